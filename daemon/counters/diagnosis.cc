#include "daemon/counters/diagnosis.h"

#include <iterator>

#include "daemon/counters/checks.h"

namespace tinyprof {

std::string_view Name(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kWarn:
      return "warn";
    case CheckState::kFail:
      return "fail";
    case CheckState::kSkip:
      return "skip";
  }
  return "fail";
}

DiagnosticCheck CheckOk(std::string name, std::string found) {
  return {.name = std::move(name), .state = CheckState::kOk, .found = std::move(found)};
}

DiagnosticCheck CheckSkipped(std::string name, std::string found) {
  return {.name = std::move(name), .state = CheckState::kSkip, .found = std::move(found)};
}

DiagnosticCheck CheckNotTold(std::string name) {
  return CheckSkipped(std::move(name), "the kernel does not tell");
}

DiagnosticCheck CheckUnmendable(std::string name, CheckState state, std::string found,
                                const std::string& why, const std::string& because) {
  return {.name = std::move(name),
          .state = state,
          .found = std::move(found),
          .why = why + "; no command mends that: " + because};
}

std::vector<DiagnosticCheck> Judge(const SystemFacts& facts) {
  std::vector<DiagnosticCheck> checks;
  for (auto* judge : {CheckCounting, CheckPapi, CheckRights, CheckEnvironment, CheckQuietness}) {
    std::vector<DiagnosticCheck> found = judge(facts);
    checks.insert(checks.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
  }
  return checks;
}

std::vector<DiagnosticCheck> Diagnose(SystemProbe probe) {
  probe.thorough = true;
  return Judge(GatherFacts(probe));
}

}  // namespace tinyprof
