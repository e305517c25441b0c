// The bound of one layer under a roofline. Pure functions.
//
// compute_ns = FLOPs / peak and bound_ns = max(compute_ns, memory_ns), after Williams, Waterman,
// Patterson, "Roofline", CACM 2009; in time, so that layers without FLOPs have a bound too.
//
// memory_ns is the longest time of any level of memory, as in the cache-aware roofline (Ilic,
// Pratas, Sousa, IEEE CAL 2014): of a layer's bytes, a cache can have held no more than its
// capacity, so the rest came at best at the bandwidth of the next level. What was flushed from the
// caches before the pass comes from DRAM, whatever they could hold. Weights are read once a pass,
// after all the others: they take at least what a set of the size of the whole pass takes that is
// read again and again (stream_curve.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/roofline/stream_curve.h"
#include "kernels/base/error.h"
#include "kernels/probes/working_set.h"

namespace tinyprof {

struct LevelCeiling {
  MemoryLevel level = MemoryLevel::kDram;
  double bytes_per_second = 0;
  std::optional<int64_t> capacity_bytes;  // of the team's caches together; absent for DRAM
};

// Of one ISA, dtype and thread count.
struct Ceilings {
  double peak_flops_per_second = 0;
  std::vector<LevelCeiling> levels;  // innermost first
  std::vector<StreamPoint> streams;  // ascending sets; may be empty
};

struct BoundInput {
  int64_t flop_count = 0;
  int64_t byte_count = 0;      // compulsory traffic: weights, inputs and outputs once
  int64_t streamed_bytes = 0;  // of byte_count, what is read once a pass and was not flushed
  int64_t pass_bytes = 0;      // of a whole pass, which the streamed ones come round with
  int64_t cold_bytes = 0;      // of byte_count, what was flushed from the caches before the pass
  std::optional<double> elapsed_ns;  // absent: not measured
  // What starting a layer like this one takes when it has no work; absent: not measured.
  std::optional<double> dispatch_ns;
};

enum class Limiter { kCompute, kL1, kL2, kL3, kDram, kOverhead };
// "compute", "L1", "L2", "L3", "DRAM", "overhead".
std::string_view Name(Limiter limiter);
Limiter MemoryLimiter(MemoryLevel level);

enum class BoundLabel { kCompute, kMemory, kOverhead };
// "compute", "memory", "overhead".
std::string_view Name(BoundLabel label);
BoundLabel LabelOf(Limiter limiter);

struct LevelBound {
  MemoryLevel level = MemoryLevel::kDram;
  double flops_per_second = 0;  // min(peak, intensity x bandwidth of this level)
};

struct Bound {
  std::optional<double> flops_per_second;  // absent for a layer without FLOPs
  Limiter limiter = Limiter::kOverhead;
  BoundLabel label = BoundLabel::kOverhead;
  MemoryLevel level = MemoryLevel::kDram;  // the one that memory_ns is of
  double bound_ns = 0;
  double compute_ns = 0;
  double memory_ns = 0;
  // 100 * bound_ns / elapsed_ns, not clamped. Absent when the time was not measured, or the layer
  // has neither FLOPs nor bytes.
  std::optional<double> percent_of_bound;
  // Intensity / ridge; above 1 the layer is bound by compute. Absent for a layer without bytes.
  std::optional<double> ridge_margin;
  std::vector<LevelBound> levels;  // empty for a layer without FLOPs
  std::string warning;             // what speaks against percent_of_bound, or empty
};

// Limiter and label are overhead by IsOverhead(), else NearerCeiling(). INVALID_ARGUMENT /
// "BAD_COUNT" for negative counts or a time that is not positive and finite, "BAD_CEILING" for
// ceilings that are not; FAILED_PRECONDITION / "NO_BANDWIDTH" when no level applies.
Result<Bound> ComputeBound(const BoundInput& input, const Ceilings& ceilings);

// max(compute_ns, memory_ns) alone, of counts that ComputeBound takes; absent where no level
// applies.
std::optional<double> BoundNs(const BoundInput& input, const Ceilings& ceilings);

// The larger of the two ceilings' times, whatever the layer took: compute, or the level of memory.
Limiter NearerCeiling(const Bound& bound);

// Whether starting explains a measured time, instead of a ceiling: when there is neither FLOPs nor
// bytes, so that there is no ceiling; or when both times are known, starting takes at least
// kExplainingShare of the measured one, and the bound less than that. Without a measured time a
// ceiling applies: how slow a layer is cannot be told from how little it does.
bool IsOverhead(double bound_ns, std::optional<double> elapsed_ns,
                std::optional<double> dispatch_ns);
// From half on, nothing else can explain more of the time.
inline constexpr double kExplainingShare = 0.5;

// FLOP per byte at which peak and bandwidth meet; both are positive.
double RidgePoint(double peak_flops_per_second, double bytes_per_second);

}  // namespace tinyprof
