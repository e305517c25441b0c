#include "client/render/speedup.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kernels/base/check.h"

namespace tinyprof::client {
namespace {

double MeanLog(std::span<const Span> runs) {
  double sum = 0;
  for (const Span& run : runs) sum += std::log(run.median_ns);
  return sum / static_cast<double>(runs.size());
}

double SquaredDeviations(std::span<const Span> runs) {
  const double mean = MeanLog(runs);
  double sum = 0;
  for (const Span& run : runs) sum += std::pow(std::log(run.median_ns) - mean, 2);
  return sum;
}

// The half width of the interval of the logarithm of the ratio.
double HalfWidth(std::span<const Span> a, std::span<const Span> b) {
  const int degrees_of_freedom = static_cast<int>(a.size() + b.size()) - 2;
  const double variance = (SquaredDeviations(a) + SquaredDeviations(b)) / degrees_of_freedom;
  const double of_means = 1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size());
  return StudentQuantile(degrees_of_freedom) * std::sqrt(variance * of_means);
}

}  // namespace

double TypicalNs(std::span<const Span> runs) {
  TINYPROF_CHECK(!runs.empty());
  return runs.size() == 1 ? runs.front().median_ns : std::exp(MeanLog(runs));
}

Speedup SpeedupOf(std::span<const Span> a, std::span<const Span> b, double tolerance) {
  Speedup speedup{.value = TypicalNs(a) / TypicalNs(b)};
  if (a.size() == 1 && b.size() == 1) {
    speedup.ci_low = a.front().low_ns / b.front().high_ns;
    speedup.ci_high = a.front().high_ns / b.front().low_ns;
  } else {
    const double factor = std::exp(HalfWidth(a, b));
    speedup.ci_low = speedup.value / factor;
    speedup.ci_high = speedup.value * factor;
  }
  speedup.significant = (speedup.ci_low > 1 || speedup.ci_high < 1) &&
                        std::max(speedup.value, 1 / speedup.value) > 1 + tolerance;
  return speedup;
}

double StudentQuantile(int degrees_of_freedom) {
  // Of 1 to 30 degrees of freedom; NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2. A
  // smaller number of degrees stands in for those beyond, whose quantile is 1.96 at least.
  static constexpr double kQuantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                          2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                          2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                          2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  TINYPROF_CHECK(degrees_of_freedom >= 1);
  const int last = static_cast<int>(std::size(kQuantiles));
  return kQuantiles[std::min(degrees_of_freedom, last) - 1];
}

}  // namespace tinyprof::client
