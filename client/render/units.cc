#include "client/render/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tinyprof::client {
namespace {

struct Step {
  double divisor;
  const char* prefix;
};

constexpr std::array kDecimalSteps = {Step{1, ""},    Step{1e3, "k"},  Step{1e6, "M"},
                                      Step{1e9, "G"}, Step{1e12, "T"}, Step{1e15, "P"}};
constexpr std::array kTimeSteps = {Step{1, "ns"}, Step{1e3, "µs"}, Step{1e6, "ms"}, Step{1e9, "s"}};
constexpr std::array kByteSteps = {Step{1, "B"}, Step{1024, "KiB"}, Step{1048576, "MiB"},
                                   Step{1073741824, "GiB"}, Step{1099511627776, "TiB"}};

Step StepFor(std::span<const Step> steps, double magnitude) {
  Step step = steps.front();
  for (const Step& next : steps) {
    if (magnitude >= next.divisor) step = next;
  }
  return step;
}

// Decimals for three significant digits of `scaled`.
int DecimalsFor(double scaled) { return scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2; }

Scale ScaleFor(std::span<const Step> steps, std::span<const double> values) {
  double largest = 0;
  bool whole = true;
  for (const double value : values) {
    largest = std::max(largest, std::fabs(value));
    whole = whole && value == std::floor(value);
  }
  const Step step = StepFor(steps, largest);
  const bool plain = step.divisor == 1 && whole;
  // One more digit than the largest needs, so that the small rows of a column still differ.
  return {step.divisor, step.prefix, plain ? 0 : std::max(1, DecimalsFor(largest / step.divisor))};
}

std::string Single(std::span<const Step> steps, double value, std::string_view unit) {
  const Step step = StepFor(steps, std::fabs(value));
  const double scaled = value / step.divisor;
  if (value > 0 && value < 0.005) return fmt::format("<0.01 {}{}", step.prefix, unit);
  const bool whole = step.divisor == 1 && value == std::floor(value);
  return fmt::format("{:.{}f} {}{}", scaled, whole ? 0 : DecimalsFor(std::fabs(scaled)),
                     step.prefix, unit);
}

}  // namespace

Scale CountScale(std::span<const double> values) { return ScaleFor(kDecimalSteps, values); }

Scale TimeScale(std::span<const double> values_ns) { return ScaleFor(kTimeSteps, values_ns); }

std::string Format(double value, const Scale& scale) {
  const double scaled = value / scale.divisor;
  const double smallest = std::pow(10.0, -scale.decimals);
  if (value > 0 && scaled < smallest / 2) return fmt::format("<{:.{}f}", smallest, scale.decimals);
  if (value == 0) return "0";
  return fmt::format("{:.{}f}", scaled, scale.decimals);
}

std::string Grouped(int64_t value) {
  std::string digits = fmt::format("{}", value);
  const int first = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return digits;
}

std::string Si(double value, std::string_view unit) { return Single(kDecimalSteps, value, unit); }

std::string Bytes(double bytes) { return Single(kByteSteps, bytes, ""); }

std::string Time(double ns) { return Single(kTimeSteps, ns, ""); }

std::string Percent(double share) { return fmt::format("{:.2f} %", share * 100); }

}  // namespace tinyprof::client
