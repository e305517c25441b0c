#include "daemon/roofline/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/words.h"

namespace tinyprof {
namespace {

constexpr double kNsPerSecond = 1e9;

bool IsPositive(double value) { return std::isfinite(value) && value > 0; }

Status CheckInput(const BoundInput& input, const Ceilings& ceilings) {
  const auto bad_count = [](std::string_view what, auto got) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_COUNT",
                fmt::format("{} cannot be {}", what, got));
  };
  if (input.flop_count < 0) return bad_count("a FLOP count", input.flop_count);
  if (input.byte_count < 0) return bad_count("a byte count", input.byte_count);
  if (input.streamed_bytes < 0 || input.streamed_bytes > input.byte_count) {
    return bad_count("a count of streamed bytes", input.streamed_bytes);
  }
  if (input.pass_bytes < 0) return bad_count("a count of a pass's bytes", input.pass_bytes);
  if (input.cold_bytes < 0 || input.cold_bytes > input.byte_count) {
    return bad_count("a count of cold bytes", input.cold_bytes);
  }
  if (input.elapsed_ns && !IsPositive(*input.elapsed_ns)) {
    return bad_count("a measured time in ns", *input.elapsed_ns);
  }
  if (input.dispatch_ns && !IsPositive(*input.dispatch_ns)) {
    return bad_count("what starting a layer takes in ns", *input.dispatch_ns);
  }
  const auto bad_ceiling = [](std::string_view what, double got) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_CEILING",
                fmt::format("the ceiling of {} must be positive, got {}: measure the roofline anew",
                            what, got));
  };
  if (!IsPositive(ceilings.peak_flops_per_second)) {
    return bad_ceiling("compute", ceilings.peak_flops_per_second);
  }
  for (const LevelCeiling& level : ceilings.levels) {
    if (!IsPositive(level.bytes_per_second)) {
      return bad_ceiling(Name(level.level), level.bytes_per_second);
    }
  }
  for (const StreamPoint& point : ceilings.streams) {
    if (!IsPositive(point.bytes_per_second)) {
      return bad_ceiling("sets that are read again", point.bytes_per_second);
    }
  }
  return {};
}

struct MemoryTime {
  MemoryLevel level = MemoryLevel::kDram;
  double elapsed_ns = 0;
};

// The level whose part of the bytes takes longest; nothing where no level holds all of them.
std::optional<MemoryTime> SlowestLevel(const BoundInput& input, const Ceilings& ceilings) {
  std::optional<MemoryTime> slowest;
  const auto cold_bytes = static_cast<double>(input.cold_bytes);
  const double warm_bytes = static_cast<double>(input.byte_count) - cold_bytes;
  double beyond_bytes = static_cast<double>(input.byte_count);
  for (const LevelCeiling& level : ceilings.levels) {
    const double elapsed_ns = beyond_bytes / level.bytes_per_second * kNsPerSecond;
    if (!slowest || elapsed_ns > slowest->elapsed_ns) slowest = {level.level, elapsed_ns};
    if (!level.capacity_bytes) return slowest;
    const bool holds_all = input.byte_count <= *level.capacity_bytes;
    const double held_share = holds_all ? 1
                                        : static_cast<double>(*level.capacity_bytes) /
                                              static_cast<double>(input.byte_count);
    beyond_bytes = cold_bytes + warm_bytes * (1 - held_share);
    if (beyond_bytes <= 0) return slowest;
  }
  return std::nullopt;
}

// The level whose bandwidth is nearest.
MemoryLevel LevelOfRate(double bytes_per_second, const Ceilings& ceilings) {
  const auto distance = [&](const LevelCeiling& level) {
    return std::fabs(std::log(level.bytes_per_second / bytes_per_second));
  };
  return std::min_element(ceilings.levels.begin(), ceilings.levels.end(),
                          [&](const LevelCeiling& a, const LevelCeiling& b) {
                            return distance(a) < distance(b);
                          })
      ->level;
}

// Whether the pass is larger than any set that was measured, of caches alone.
bool PassIsBeyond(const BoundInput& input, const Ceilings& ceilings) {
  return input.streamed_bytes > 0 && !ceilings.streams.empty() &&
         input.pass_bytes > ceilings.streams.back().set_bytes &&
         (ceilings.levels.empty() || ceilings.levels.back().capacity_bytes.has_value());
}

// Nothing where no level applies.
std::optional<MemoryTime> MemoryTimeOf(const BoundInput& input, const Ceilings& ceilings) {
  std::optional<MemoryTime> slowest = SlowestLevel(input, ceilings);
  if (!slowest || PassIsBeyond(input, ceilings)) return std::nullopt;
  const std::optional<double> rate = StreamRate(ceilings.streams, input.pass_bytes);
  if (!rate) return slowest;
  const double streamed_ns = static_cast<double>(input.streamed_bytes) / *rate * kNsPerSecond;
  if (streamed_ns > slowest->elapsed_ns) slowest = {LevelOfRate(*rate, ceilings), streamed_ns};
  return slowest;
}

double ComputeNs(const BoundInput& input, const Ceilings& ceilings) {
  return static_cast<double>(input.flop_count) / ceilings.peak_flops_per_second * kNsPerSecond;
}

void CompareWithTime(double elapsed_ns, Bound& bound) {
  if (bound.bound_ns == 0) return;
  bound.percent_of_bound = 100 * bound.bound_ns / elapsed_ns;
  if (*bound.percent_of_bound <= 100) return;
  bound.warning = fmt::format(
      "measured at {:.1f} % of the bound, which cannot be: the roofline is out of date or was "
      "measured "
      "on a busy machine, data came from nearer than {}, or the kernel skips counted work",
      *bound.percent_of_bound, Name(bound.level));
}

}  // namespace

std::string_view Name(Limiter limiter) {
  switch (limiter) {
    case Limiter::kCompute:
      return "compute";
    case Limiter::kL1:
      return "L1";
    case Limiter::kL2:
      return "L2";
    case Limiter::kL3:
      return "L3";
    case Limiter::kDram:
      return "DRAM";
    case Limiter::kOverhead:
      return "overhead";
  }
  return "unknown";
}

std::string_view Name(BoundLabel label) {
  switch (label) {
    case BoundLabel::kCompute:
      return "compute";
    case BoundLabel::kMemory:
      return "memory";
    case BoundLabel::kOverhead:
      return "overhead";
  }
  return "unknown";
}

BoundLabel LabelOf(Limiter limiter) {
  if (limiter == Limiter::kOverhead) return BoundLabel::kOverhead;
  return limiter == Limiter::kCompute ? BoundLabel::kCompute : BoundLabel::kMemory;
}

Limiter MemoryLimiter(MemoryLevel level) {
  switch (level) {
    case MemoryLevel::kL1:
      return Limiter::kL1;
    case MemoryLevel::kL2:
      return Limiter::kL2;
    case MemoryLevel::kL3:
      return Limiter::kL3;
    case MemoryLevel::kDram:
      return Limiter::kDram;
  }
  return Limiter::kDram;
}

Limiter NearerCeiling(const Bound& bound) {
  return bound.compute_ns >= bound.memory_ns ? Limiter::kCompute : MemoryLimiter(bound.level);
}

bool IsOverhead(double bound_ns, std::optional<double> elapsed_ns,
                std::optional<double> dispatch_ns) {
  if (bound_ns <= 0) return true;
  if (!elapsed_ns || !dispatch_ns) return false;
  const double share_ns = kExplainingShare * *elapsed_ns;
  return *dispatch_ns >= share_ns && bound_ns < share_ns;
}

double RidgePoint(double peak_flops_per_second, double bytes_per_second) {
  return peak_flops_per_second / bytes_per_second;
}

std::optional<double> BoundNs(const BoundInput& input, const Ceilings& ceilings) {
  const std::optional<MemoryTime> memory = MemoryTimeOf(input, ceilings);
  if (!memory) return std::nullopt;
  return std::max(ComputeNs(input, ceilings), memory->elapsed_ns);
}

Result<Bound> ComputeBound(const BoundInput& input, const Ceilings& ceilings) {
  TINYPROF_RETURN_IF_ERROR(CheckInput(input, ceilings));
  const std::optional<MemoryTime> memory = MemoryTimeOf(input, ceilings);
  if (!memory) {
    return Fail(
        ErrorCode::kFailedPrecondition, "NO_BANDWIDTH",
        fmt::format("the roofline has no bandwidth for a working set of {}{}: measure it anew with "
                    "more memory free (`tinyprof-client roofline --measure`)",
                    SizeText(PassIsBeyond(input, ceilings) ? input.pass_bytes : input.byte_count),
                    input.cold_bytes > 0 ? " from cold caches" : ""));
  }
  const auto flops = static_cast<double>(input.flop_count);
  const auto bytes = static_cast<double>(input.byte_count);
  Bound bound;
  bound.level = memory->level;
  bound.compute_ns = ComputeNs(input, ceilings);
  bound.memory_ns = memory->elapsed_ns;
  bound.bound_ns = std::max(bound.compute_ns, bound.memory_ns);
  if (input.byte_count > 0) bound.ridge_margin = bound.compute_ns / bound.memory_ns;
  if (input.flop_count > 0) {
    bound.flops_per_second = flops / bound.bound_ns * kNsPerSecond;
    for (const LevelCeiling& each : ceilings.levels) {
      const double memory_bound = input.byte_count > 0 ? flops / bytes * each.bytes_per_second
                                                       : ceilings.peak_flops_per_second;
      bound.levels.push_back({each.level, std::min(ceilings.peak_flops_per_second, memory_bound)});
    }
  }
  bound.limiter = IsOverhead(bound.bound_ns, input.elapsed_ns, input.dispatch_ns)
                      ? Limiter::kOverhead
                      : NearerCeiling(bound);
  bound.label = LabelOf(bound.limiter);
  if (input.elapsed_ns) CompareWithTime(*input.elapsed_ns, bound);
  return bound;
}

}  // namespace tinyprof
