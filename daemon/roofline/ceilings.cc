#include <fmt/format.h>

#include <algorithm>

#include "daemon/roofline/roofline.h"
#include "kernels/base/words.h"

namespace tinyprof {
namespace {

constexpr MemoryLevel kLevels[] = {MemoryLevel::kL1, MemoryLevel::kL2, MemoryLevel::kL3,
                                   MemoryLevel::kDram};

int HighestThreads(const Roofline& roofline) {
  int highest = 0;
  for (const PeakCeiling& peak : roofline.isa) highest = std::max(highest, peak.threads);
  return highest;
}

// For `threads` of 1 to `most`, from the ceilings of one thread and of `most`. What one thread can
// do, a team can, whatever was measured of it.
std::optional<double> Between(std::optional<double> one, std::optional<double> all, int threads,
                              int most) {
  if (threads == 1) return one;
  if (!one || !all) return threads == most ? all : std::nullopt;
  const double of_team = std::max(*one, *all);
  return threads == most ? of_team : std::min(*one * threads, of_team);
}

std::optional<double> PeakRate(const Roofline& roofline, std::string_view name, DType dtype,
                               int threads) {
  const PeakCeiling* const peak = FindPeak(roofline, name, dtype, threads);
  if (peak == nullptr) return std::nullopt;
  return peak->peak_flops_per_second;
}

std::vector<StreamPoint> StreamsOf(const Roofline& roofline, int threads) {
  std::vector<StreamPoint> points;
  for (const StreamPoint& point : roofline.streams) {
    if (point.threads == threads) points.push_back(point);
  }
  return points;
}

// At each set that `most` threads were measured at, for `threads`: no faster than all of them, nor
// than as many single ones on their parts of the set; and no slower than one on all of it.
std::vector<StreamPoint> StreamsBetween(const Roofline& roofline, int threads, int most) {
  std::vector<StreamPoint> one = StreamsOf(roofline, 1);
  if (threads == 1) return one;
  std::vector<StreamPoint> between;
  for (const StreamPoint& all : StreamsOf(roofline, most)) {
    double rate = all.bytes_per_second;
    const auto of_part = StreamRate(one, all.set_bytes / threads);
    if (threads < most && of_part) rate = std::min(rate, *of_part * threads);
    rate = std::max(rate, StreamRate(one, all.set_bytes).value_or(0));
    between.push_back({threads, all.set_bytes, rate});
  }
  return between;
}

// Caches of a level that a team of one thread a core has together.
std::optional<int64_t> TeamCapacity(const HostInfo& host, MemoryLevel level, int threads) {
  if (level == MemoryLevel::kDram) return std::nullopt;
  const int wanted = 1 + static_cast<int>(level);
  int64_t cores_of_l1 = 1;
  for (const Cache& cache : host.caches) {
    if (cache.level == 1) cores_of_l1 = std::max<int64_t>(1, std::ssize(cache.cpus));
    if (cache.level != wanted) continue;
    const int64_t cores = std::max<int64_t>(1, std::ssize(cache.cpus) / cores_of_l1);
    return cache.byte_size * ((threads + cores - 1) / cores);
  }
  return 0;
}

tl::unexpected<Error> NoCeiling(const std::string& what) {
  return Fail(ErrorCode::kFailedPrecondition, "NO_CEILING",
              fmt::format("the roofline has no ceiling for {}: measure it anew with "
                          "`tinyprof-client roofline --measure`",
                          what),
              {{"what", what}});
}

}  // namespace

std::string_view PeakName(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
#if defined(__aarch64__)
      return "neon";
#else
      return "sse";
#endif
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

const PeakCeiling* FindPeak(const Roofline& roofline, std::string_view name, DType dtype,
                            int threads) {
  for (const PeakCeiling& peak : roofline.isa) {
    if (peak.name == name && peak.dtype == dtype && peak.threads == threads) return &peak;
  }
  return nullptr;
}

std::optional<double> HighestBandwidth(const Roofline& roofline, MemoryLevel level, int threads) {
  std::optional<double> highest;
  for (const BandwidthCeiling& ceiling : roofline.bandwidth) {
    if (ceiling.level != level || ceiling.threads != threads) continue;
    highest = std::max(highest.value_or(0), ceiling.bytes_per_second);
  }
  return highest;
}

std::vector<Ridge> RidgesOf(const Roofline& roofline) {
  std::vector<Ridge> ridges;
  for (const PeakCeiling& peak : roofline.isa) {
    if (peak.dtype != DType::kFloat32) continue;
    for (const MemoryLevel level : kLevels) {
      const auto bandwidth = HighestBandwidth(roofline, level, peak.threads);
      if (!bandwidth) continue;
      ridges.push_back({.isa = peak.name,
                        .level = level,
                        .threads = peak.threads,
                        .flop_per_byte = RidgePoint(peak.peak_flops_per_second, *bandwidth)});
    }
  }
  return ridges;
}

Result<Ceilings> CeilingsFor(const Roofline& roofline, Isa isa, DType dtype, int threads) {
  const int most = HighestThreads(roofline);
  if (threads < 1 || threads > most) {
    return NoCeiling(
        fmt::format("{} (it was measured with 1 to {})", Counted(threads, "thread"), most));
  }
  const std::string_view name = PeakName(isa);
  const auto peak = Between(PeakRate(roofline, name, dtype, 1),
                            PeakRate(roofline, name, dtype, most), threads, most);
  if (!peak) return NoCeiling(fmt::format("{} on {}", Name(dtype), name));
  Ceilings ceilings{.peak_flops_per_second = *peak};
  for (const MemoryLevel level : kLevels) {
    const auto bandwidth = Between(HighestBandwidth(roofline, level, 1),
                                   HighestBandwidth(roofline, level, most), threads, most);
    if (!bandwidth) continue;
    ceilings.levels.push_back({.level = level,
                               .bytes_per_second = *bandwidth,
                               .capacity_bytes = TeamCapacity(roofline.host, level, threads)});
  }
  ceilings.streams = StreamsBetween(roofline, threads, most);
  return ceilings;
}

}  // namespace tinyprof
