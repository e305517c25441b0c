#include "daemon/roofline/stream_curve.h"

#include <algorithm>
#include <cmath>

#include "kernels/probes/working_set.h"

namespace tinyprof {
namespace {

constexpr double kSmallestSetBytes = 64 << 10;

double TeamBytes(int step) { return kSmallestSetBytes * std::exp2(0.5 * step); }

}  // namespace

std::vector<int64_t> StreamSets(int threads, int64_t most_bytes) {
  std::vector<int64_t> sets;
  const double most_team_bytes = static_cast<double>(most_bytes) * threads;
  for (int step = 0; TeamBytes(step) <= most_team_bytes; ++step) {
    const auto bytes = static_cast<int64_t>(TeamBytes(step) / threads);
    const int64_t set = bytes / kWorkingSetGranule * kWorkingSetGranule;
    if (set > 0 && (sets.empty() || set > sets.back())) sets.push_back(set);
  }
  return sets;
}

void RaiseToCeilings(double dram_bytes_per_second, std::span<StreamPoint> points) {
  double least = dram_bytes_per_second;
  for (size_t i = points.size(); i-- > 0;) {
    least = std::max(least, points[i].bytes_per_second);
    points[i].bytes_per_second = least;
  }
}

std::optional<double> StreamRate(std::span<const StreamPoint> points, int64_t set_bytes) {
  const auto above = std::lower_bound(
      points.begin(), points.end(), set_bytes,
      [](const StreamPoint& point, int64_t bytes) { return point.set_bytes < bytes; });
  if (above == points.end()) {
    if (points.empty()) return std::nullopt;
    return points.back().bytes_per_second;
  }
  if (above->set_bytes == set_bytes) return above->bytes_per_second;
  if (above == points.begin()) return std::nullopt;
  const StreamPoint& below = *(above - 1);
  const auto log_ratio = [](auto of, auto to) {
    return std::log(static_cast<double>(to) / static_cast<double>(of));
  };
  const double share =
      log_ratio(below.set_bytes, set_bytes) / log_ratio(below.set_bytes, above->set_bytes);
  return below.bytes_per_second *
         std::exp(share * log_ratio(below.bytes_per_second, above->bytes_per_second));
}

}  // namespace tinyprof
