#include <algorithm>

#include "daemon/counters/checks.h"

namespace tinyprof {
namespace {

using Check = DiagnosticCheck;

std::string Quoted(const std::string& name, const std::string& value) {
  return name + "=\"" + value + "\"";
}

Check Variable(const SystemFacts& facts, const std::string& name, const std::string& if_unreadable,
               const std::string& if_set) {
  const EnvironmentFact* variable = FindVariable(facts, name);
  // PAPI takes an empty name of a file as none; libpfm4 does not take an empty PMU as none.
  const bool is_empty_name =
      name.ends_with("_FILE") && variable != nullptr && variable->value.empty();
  if (variable == nullptr || is_empty_name) {
    return CheckOk(name, "not set");
  }
  const bool names_file = NamesFile(*variable);
  const std::string found = Quoted(name, variable->value);
  const std::string fix = "unset " + name;
  if (names_file && !variable->file_text.has_value()) {
    const std::string is = variable->file_kind.empty() ? "" : "is " + variable->file_kind + " and ";
    return {name, CheckState::kFail, found + ", which " + is + "cannot be read", if_unreadable,
            fix};
  }
  if (names_file && variable->file_text->empty()) {
    return {name, CheckState::kFail, found + ", which is empty", if_unreadable, fix};
  }
  return {name, CheckState::kWarn, found, if_set, fix};
}

}  // namespace

const EnvironmentFact* FindVariable(const SystemFacts& facts, std::string_view name) {
  const auto found = std::find_if(facts.environment.begin(), facts.environment.end(),
                                  [&](const EnvironmentFact& fact) { return fact.name == name; });
  return found == facts.environment.end() ? nullptr : &*found;
}

// What PAPI and libpfm4 make of their variables is in no error message of theirs.
std::vector<DiagnosticCheck> CheckEnvironment(const SystemFacts& facts) {
  const EnvironmentFact* forced = FindVariable(facts, "LIBPFM_FORCE_PMU");
  return {Variable(facts, "PAPI_CSV_EVENT_FILE",
                   "PAPI switches all of its counters off, or has no preset left",
                   "this file takes the place of all of PAPI's presets"),
          Variable(facts, "PAPI_USER_EVENTS_FILE", "the events of the file are missing",
                   "events of this file may stand for something else than their names say"),
          Variable(
              facts, "LIBPFM_FORCE_PMU", "",
              forced != nullptr && forced->value.empty()
                  ? "an empty value makes libpfm4 take the first PMU of its table, whatever the CPU"
                  : "events are encoded for another CPU than this one may be, and perf:: events "
                    "are not known"),
          Variable(facts, "LIBPFM_DISABLED_PMUS", "",
                   "libpfm4 leaves these PMUs out, and their events are not known")};
}

}  // namespace tinyprof
