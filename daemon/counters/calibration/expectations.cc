#include "daemon/counters/calibration/expectations.h"

#include "daemon/counters/physical_limits.h"
#include "kernels/base/check.h"

namespace tinyprof {
namespace {

Expectation Exactly(int64_t count) {
  const auto value = static_cast<double>(count);
  return {value, value, value};
}

// The level whose misses a metric counts.
WorkingSet LevelOf(Metric metric) {
  switch (metric) {
    case Metric::kL1dMisses:
      return WorkingSet::kL1;
    case Metric::kL2Misses:
      return WorkingSet::kL2;
    default:
      return WorkingSet::kL3;
  }
}

std::optional<Expectation> Misses(Metric metric, const LoopFacts& facts) {
  if (facts.in_order) {
    return std::nullopt;
  }
  const WorkingSet level = LevelOf(metric);
  if (facts.set > level) {
    return Expectation{0.5, 1, 2};
  }
  const bool contended = facts.set == level && level != WorkingSet::kL1;
  return Expectation{0, 0, contended ? 0.3 : 0.1};
}

std::optional<Expectation> DramBytes(const LoopFacts& facts) {
  constexpr double kLineBytes = 64;
  std::optional<Expectation> lines = Misses(Metric::kL3Misses, facts);
  if (lines.has_value()) {
    lines = {lines->low * kLineBytes, lines->nominal * kLineBytes, lines->high * kLineBytes};
  }
  return lines;
}

Expectation Cycles(const LoopFacts& facts) {
  const auto instructions = static_cast<double>(facts.instructions);
  const bool slow = facts.loads > 0 || facts.kind == WorkKind::kDivide;
  return {instructions / kMostInstructionsPerCycle, instructions,
          instructions * (slow ? 2000 : 100)};
}

std::optional<Expectation> Stalls(const LoopFacts& facts, std::optional<double> cycles) {
  if (!cycles.has_value()) {
    return std::nullopt;
  }
  // Another pass of the same loop, so its cycles are not quite these.
  constexpr double kSlack = 1.2;
  const bool waits = facts.set == WorkingSet::kDram && !facts.in_order;
  return Expectation{waits ? *cycles / 4 : 0, waits ? *cycles : 0, *cycles * kSlack};
}

Expectation BranchMisses(const LoopFacts& facts) {
  if (facts.kind == WorkKind::kBranch) {
    return {0.3, 0.5, 0.7};
  }
  return {0, 0, 0.02 * static_cast<double>(facts.branches)};
}

Expectation DtlbMisses(const LoopFacts& facts) {
  if (facts.kind == WorkKind::kPages) {
    return {0.5, 1, 3};
  }
  return {0, 0, 0.05};
}

}  // namespace

bool Concerns(Metric metric, const LoopFacts& facts) {
  switch (metric) {
    case Metric::kInstructions:
    case Metric::kCycles:
      return true;
    case Metric::kFlops:
    case Metric::kFlopsSingle:
    case Metric::kFlopsDouble:
      return facts.floating_point() || facts.set == WorkingSet::kL1;
    case Metric::kL1dMisses:
    case Metric::kL2Misses:
    case Metric::kL3Misses:
    case Metric::kDramBytes:
      return facts.kind == WorkKind::kLoad;
    case Metric::kStallCycles:
      return facts.kind == WorkKind::kAdd || facts.kind == WorkKind::kLoad;
    case Metric::kBranchMisses:
      return facts.kind == WorkKind::kAdd || facts.kind == WorkKind::kBranch;
    case Metric::kDtlbMisses:
      return facts.kind == WorkKind::kPages || facts.set == WorkingSet::kL1;
  }
  TINYPROF_CHECK(false);
}

std::optional<Expectation> ExpectationOf(Metric metric, const LoopFacts& facts,
                                         const FlopDefinition& definition,
                                         std::optional<double> cycles_per_iteration) {
  switch (metric) {
    case Metric::kInstructions:
      return Exactly(facts.instructions);
    case Metric::kCycles:
      return Cycles(facts);
    case Metric::kFlops:
      return Exactly(facts.FlopsPerIteration(definition));
    case Metric::kFlopsSingle:
      return Exactly(facts.double_precision ? 0 : facts.FlopsPerIteration(definition));
    case Metric::kFlopsDouble:
      return Exactly(facts.double_precision ? facts.FlopsPerIteration(definition) : 0);
    case Metric::kL1dMisses:
    case Metric::kL2Misses:
    case Metric::kL3Misses:
      return Misses(metric, facts);
    case Metric::kDramBytes:
      return DramBytes(facts);
    case Metric::kStallCycles:
      return Stalls(facts, cycles_per_iteration);
    case Metric::kBranchMisses:
      return BranchMisses(facts);
    case Metric::kDtlbMisses:
      return DtlbMisses(facts);
  }
  TINYPROF_CHECK(false);
}

}  // namespace tinyprof
