#include "daemon/counters/calibration/known_loop.h"

namespace tinyprof {

std::string_view Name(WorkKind kind) {
  switch (kind) {
    case WorkKind::kAdd:
      return "add";
    case WorkKind::kFma:
      return "fma";
    case WorkKind::kMinMax:
      return "min_max";
    case WorkKind::kDivide:
      return "divide";
    case WorkKind::kLoad:
      return "load";
    case WorkKind::kBranch:
      return "branch";
    case WorkKind::kPages:
      return "pages";
  }
  return "";
}

std::string_view Name(WorkingSet set) {
  switch (set) {
    case WorkingSet::kRegisters:
      return "registers";
    case WorkingSet::kL1:
      return "l1";
    case WorkingSet::kL2:
      return "l2";
    case WorkingSet::kL3:
      return "l3";
    case WorkingSet::kDram:
      return "dram";
  }
  return "";
}

int64_t LoopFacts::FlopsPerIteration(const FlopDefinition& definition) const {
  if (kind == WorkKind::kMinMax && !definition.min_max) {
    return 0;
  }
  const int64_t operations = kind == WorkKind::kFma && definition.fma_as_two ? 2 : 1;
  return arithmetic * operations * (definition.masked_off_lanes ? lanes : active_lanes);
}

}  // namespace tinyprof
