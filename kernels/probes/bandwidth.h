// Sustained bandwidth of one level of the memory hierarchy, as a program sees it.
//
// Byte counts are STREAM's (memory_loops.h): write-allocate traffic is not counted, so a plain copy
// from DRAM moves half as many bytes again as its figure says.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/base/error.h"
#include "kernels/probes/memory_loops.h"
#include "kernels/probes/trials.h"
#include "kernels/probes/working_set.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {

struct BandwidthResult {
  MemoryLevel level = MemoryLevel::kDram;
  MemoryOp op = MemoryOp::kLoad;
  VectorIsa isa = VectorIsa::kScalar;  // of the loop with the best trial
  int threads = 1;
  int64_t working_set_bytes = 0;  // of the whole team, over all arrays
  RateSummary bytes_per_second;   // of the whole team, trials of that loop only
};

// Memory for a team to walk, touched first by the thread that will use it so that it is near to it.
// Used by the master of the team; pin the team before Create.
class BandwidthProbe {
 public:
  // RESOURCE_EXHAUSTED / "OUT_OF_MEMORY" when the system refuses threads * bytes_per_thread.
  static Result<BandwidthProbe> Create(int threads, int64_t bytes_per_thread);

  // `loops` are tried in turn (one of each register width, say) and do the same `op`; at least one.
  // INVALID_ARGUMENT / "WORKING_SET_TOO_LARGE" when `set` is larger than what Create was asked for,
  // "WORKING_SET_TOO_SMALL" when it has not one block for each array.
  Result<BandwidthResult> Measure(const WorkingSet& set, std::span<const MemoryLoop* const> loops,
                                  const TrialBudget& budget);

 private:
  struct Arrays {
    std::byte* target = nullptr;
    std::byte* a = nullptr;
    std::byte* b = nullptr;
  };

  BandwidthProbe(int threads, int64_t bytes_per_thread, int64_t stride, Buffer buffer);
  Arrays ArraysOf(int thread, int64_t array_bytes);
  int64_t TimePasses(const MemoryLoop& loop, int64_t array_bytes, int64_t passes);

  int threads_;
  int64_t bytes_per_thread_;
  int64_t stride_;
  Buffer buffer_;
};

}  // namespace tinyprof
