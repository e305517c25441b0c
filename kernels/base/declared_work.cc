#include "kernels/base/declared_work.h"

namespace tinyprof {

void DeclareFlops(std::int64_t flop_count) {
  constexpr std::int64_t kLanes = 8;
  constexpr std::int64_t kFixedInstructions = 100;
  const std::int64_t vectors = flop_count / kLanes;
  const std::int64_t scalars = flop_count % kLanes;
  const std::int64_t instructions = kFixedInstructions + 3 * (vectors + scalars);
  DeclareWork(WorkSignal::kFlops, flop_count);
  DeclareWork(WorkSignal::kFp256Single, vectors);
  DeclareWork(WorkSignal::kFpScalarSingle, scalars);
  DeclareWork(WorkSignal::kInstructions, instructions);
  DeclareWork(WorkSignal::kCycles, instructions);
}

}  // namespace tinyprof
