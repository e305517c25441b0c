#include "daemon/counters/declared_known_work.h"

#include <utility>

#include "kernels/base/declared_work.h"

namespace tinyprof {

KnownWork Declaring(KnownWork work) {
  if (work.arithmetic) {
    work.arithmetic = [run = std::move(work.arithmetic), flops_each = work.flops_per_iteration,
                       instructions_each = work.instructions_per_iteration](int64_t n) {
      run(n);
      DeclareWork(WorkSignal::kFlops, n * flops_each);
      DeclareWork(WorkSignal::kFp128Single, n);
      DeclareWork(WorkSignal::kInstructions, n * instructions_each);
      DeclareWork(WorkSignal::kCycles, n * instructions_each);
    };
  }
  if (work.cold_lines) {
    work.cold_lines = [run = std::move(work.cold_lines)](int64_t n) {
      run(n);
      for (const WorkSignal miss :
           {WorkSignal::kL1dMisses, WorkSignal::kL2Misses, WorkSignal::kL3Misses}) {
        DeclareWork(miss, n);
      }
    };
  }
  return work;
}

}  // namespace tinyprof
