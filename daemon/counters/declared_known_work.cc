#include "daemon/counters/declared_known_work.h"

#include <optional>
#include <utility>

#include "kernels/base/declared_work.h"

namespace tinyprof {
namespace {

std::optional<WorkSignal> SignalOf(const LoopFacts& facts) {
  const bool is_double = facts.double_precision;
  if (facts.lanes == 1) {
    return is_double ? WorkSignal::kFpScalarDouble : WorkSignal::kFpScalarSingle;
  }
  switch (facts.width_bits) {
    case 128:
      return is_double ? WorkSignal::kFp128Double : WorkSignal::kFp128Single;
    case 256:
      return is_double ? WorkSignal::kFp256Double : WorkSignal::kFp256Single;
    case 512:
      return is_double ? WorkSignal::kFp512Double : WorkSignal::kFp512Single;
    default:
      return std::nullopt;
  }
}

// As a CPU counts whose FLOP events take an FMA for two, lanes that are masked off, and no minima.
void DeclareArithmetic(const LoopFacts& facts, int64_t n) {
  DeclareWork(WorkSignal::kFlops, n * facts.FlopsPerIteration(FlopDefinition{}));
  const std::optional<WorkSignal> signal = SignalOf(facts);
  if (signal.has_value() && facts.kind != WorkKind::kMinMax) {
    DeclareWork(*signal, n * facts.arithmetic * (facts.kind == WorkKind::kFma ? 2 : 1));
  }
}

void DeclareMisses(const LoopFacts& facts, int64_t n) {
  constexpr std::pair<WorkingSet, WorkSignal> kLevels[] = {
      {WorkingSet::kL1, WorkSignal::kL1dMisses},
      {WorkingSet::kL2, WorkSignal::kL2Misses},
      {WorkingSet::kL3, WorkSignal::kL3Misses}};
  for (const auto& [level, signal] : kLevels) {
    if (facts.set > level) DeclareWork(signal, n);
  }
}

}  // namespace

KnownWork Declaring(KnownWork work) {
  for (KnownLoop& loop : work.loops) {
    loop.run = [run = std::move(loop.run), facts = loop.facts](int64_t n) {
      run(n);
      DeclareWork(WorkSignal::kInstructions, n * facts.instructions);
      DeclareWork(WorkSignal::kCycles, n * facts.instructions);
      if (facts.floating_point()) DeclareArithmetic(facts, n);
      if (facts.kind == WorkKind::kLoad) DeclareMisses(facts, n);
    };
  }
  return work;
}

}  // namespace tinyprof
