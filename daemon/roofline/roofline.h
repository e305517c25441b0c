// The ceilings of a lab machine, measured on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/roofline/bounds.h"
#include "daemon/roofline/host.h"
#include "daemon/roofline/stream_curve.h"
#include "kernels/base/error.h"
#include "kernels/probes/bandwidth.h"
#include "kernels/runtime/isa.h"
#include "kernels/tensor/dtype.h"

namespace tinyprof {

// Rates are of the whole team. The ceiling is the best trial; the median tells how often it is met.
struct PeakCeiling {
  // "scalar", "sse", "avx2", "avx512", "neon": what the ISA can do with the instructions that a
  // matrix product is made of. "scalar_fma", and "X_fma_add" where additions beside FMAs add to the
  // peak.
  std::string name;
  DType dtype = DType::kFloat32;
  int threads = 1;
  double flops_per_cycle = 0;  // of the whole team
  double peak_flops_per_second = 0;
  double median_flops_per_second = 0;
  double clock_hz = 0;  // while it ran
};

struct BandwidthCeiling {
  MemoryLevel level = MemoryLevel::kDram;
  MemoryOp op = MemoryOp::kLoad;
  int threads = 1;
  double bytes_per_second = 0;  // STREAM counting: write-allocate left out
  double median_bytes_per_second = 0;
  int64_t working_set_bytes = 0;  // what each thread walked over
};

struct Ridge {
  std::string isa;  // PeakCeiling::name
  MemoryLevel level = MemoryLevel::kDram;
  int threads = 1;
  double flop_per_byte = 0;  // float32 peak over the level's highest bandwidth
};

struct Roofline {
  HostInfo host;
  std::string fingerprint;
  std::chrono::system_clock::time_point measured;
  std::vector<PeakCeiling> isa;
  double clock_hz = 0;  // one thread, integer code
  std::vector<BandwidthCeiling> bandwidth;
  std::vector<StreamPoint> streams;  // of the same thread counts, sets ascending
  std::vector<Ridge> ridge;
  std::optional<double> ping_pong_ns;  // absent with one thread, or as `warnings` says
  std::vector<std::string> warnings;   // one sentence each
};

// The name of the peak that code compiled for `isa` is measured against on this architecture.
std::string_view PeakName(Isa isa);

// The ceiling of that name, dtype and thread count, or null.
const PeakCeiling* FindPeak(const Roofline& roofline, std::string_view name, DType dtype,
                            int threads);

// The highest bandwidth of any operation at that level with that many threads, or nothing: a bound
// that some mix of loads and stores can pass would be none.
std::optional<double> HighestBandwidth(const Roofline& roofline, MemoryLevel level, int threads);

// A ridge for each float32 peak, level and thread count.
std::vector<Ridge> RidgesOf(const Roofline& roofline);

// The ceilings for a layer that runs on `threads` threads with code for `isa` on `dtype`. A thread
// count between 1 and the highest one measured gets the lower of what follows from either: threads
// times the ceiling of one, and the ceiling of all. FAILED_PRECONDITION / "NO_CEILING" when the
// roofline has none for this ISA, dtype or thread count.
Result<Ceilings> CeilingsFor(const Roofline& roofline, Isa isa, DType dtype, int threads);

}  // namespace tinyprof
