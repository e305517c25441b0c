// PAPI and libpfm4: whether they can count, and which variable keeps them from it.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/counters/checks.h"

namespace tinyprof {
namespace {

using Check = DiagnosticCheck;

// libpfm4 leaves out the PMUs whose names contain one of the words of the list.
bool IsLeftOut(std::string_view pmu, std::string_view list) {
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    if (!word.empty() && pmu.find(word) != std::string_view::npos) {
      return true;
    }
    list.remove_prefix(std::min(word.size() + 1, list.size()));
  }
  return false;
}

// The variable because of which libpfm4 has no PMU for this CPU; empty: no variable is the cause.
std::string VariableThatHidesThePmu(const SystemFacts& facts) {
  const EnvironmentFact* forced = FindVariable(facts, "LIBPFM_FORCE_PMU");
  const EnvironmentFact* disabled = FindVariable(facts, "LIBPFM_DISABLED_PMUS");
  if (!facts.backend.pmu.empty()) {
    return "";
  }
  std::vector<std::string_view> pmus = PmusOf(facts.cpu_family);
  if (forced != nullptr) {
    pmus = {forced->value};
  }
  const bool left_out =
      disabled != nullptr && std::any_of(pmus.begin(), pmus.end(), [&](std::string_view pmu) {
        return IsLeftOut(pmu, disabled->value);
      });
  if (left_out) {
    return disabled->name;
  }
  // One that is forced and known would be there.
  return forced != nullptr ? forced->name : "";
}

// The variable that makes PAPI count nothing though the kernel does; empty: none.
std::string CulpritOfPapi(const SystemFacts& facts) {
  if (!facts.backend.unusable_reason.starts_with("PAPI_DISABLED")) {
    return VariableThatHidesThePmu(facts);
  }
  // A table that can be read may still be one that PAPI cannot make anything of.
  const EnvironmentFact* table = FindVariable(facts, "PAPI_CSV_EVENT_FILE");
  if (table != nullptr && NamesFile(*table)) {
    return table->name;
  }
  return VariableThatHidesThePmu(facts);
}

Check Papi(const SystemFacts& facts) {
  const std::string name = "PAPI";
  const BackendInfo& papi = facts.backend;
  if (papi.name.empty()) {
    return CheckSkipped(name, "not asked");
  }
  const std::string found =
      fmt::format("version {}, PMU {}", papi.version.empty() ? "unknown" : papi.version,
                  papi.pmu.empty() ? "unknown" : papi.pmu);
  if (papi.unusable_reason.empty()) {
    return CheckOk(name, found);
  }
  const std::string why = "no hardware event can be counted through PAPI";
  const std::string all = fmt::format("{}; {}", found, papi.unusable_reason);
  if (facts.hardware_event_errno != 0) {
    Check check = CheckRefused(name, facts.hardware_event_errno,
                               why + ", since PAPI can count no more than the kernel does", facts);
    check.found = all;
    return check;
  }
  // What PAPI saw may be another level than the file's, and all the same the cause.
  const bool by_level = papi.unusable_reason.find("paranoid=") != std::string::npos;
  if (by_level || facts.perf_event_paranoid.value_or(0) > 2) {
    return {name, CheckState::kFail, all, why, "sudo sysctl kernel.perf_event_paranoid=2"};
  }
  if (const std::string variable = CulpritOfPapi(facts); !variable.empty()) {
    return {name, CheckState::kFail, all, why, "unset " + variable};
  }
  return CheckUnmendable(name, CheckState::kFail, all, why, "a PAPI that knows this CPU is needed");
}

// libpfm4 names core PMUs; a CPU newer than it leaves none.
Check EventTables(const SystemFacts& facts) {
  const std::string name = "event tables";
  if (facts.backend.name.empty()) {
    return CheckSkipped(name, "PAPI was not asked");
  }
  if (!facts.backend.pmu.empty()) {
    return CheckOk(name, "libpfm4 knows this CPU as " + facts.backend.pmu);
  }
  if (const std::string variable = VariableThatHidesThePmu(facts); !variable.empty()) {
    return {name, CheckState::kWarn,
            fmt::format("EVENT_UNKNOWN: {}=\"{}\" leaves libpfm4 no PMU", variable,
                        FindVariable(facts, variable)->value),
            "PAPI counts nothing on a CPU that its libpfm4 may not know", "unset " + variable};
  }
  const std::string cpu = facts.cpu_model.empty() ? "this CPU" : facts.cpu_model;
  return CheckUnmendable(
      name, CheckState::kWarn, "EVENT_UNKNOWN: libpfm4 has no PMU for " + cpu,
      "PAPI counts nothing on a CPU that its libpfm4 does not know; what the kernel "
      "knows by itself is counted without PAPI where there is a PMU",
      "a libpfm4 that is newer than the CPU is needed");
}

}  // namespace

std::vector<DiagnosticCheck> CheckPapi(const SystemFacts& facts) {
  return {Papi(facts), EventTables(facts)};
}

}  // namespace tinyprof
