// Why counters cannot be had, or measuring is not as quiet as it could be, and the one command that
// mends it. Reading the machine (system_facts.h) is apart from judging it, which is pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters/counter_report.h"
#include "daemon/counters/system_facts.h"

namespace tinyprof {

enum class CheckState { kOk, kWarn, kFail, kSkip };  // kSkip: nothing is known either way
// "ok", "warn", "fail", "skip".
std::string_view Name(CheckState state);

struct DiagnosticCheck {
  std::string name;  // "hardware counters"
  CheckState state = CheckState::kOk;
  std::string found;
  std::string why;  // empty when ok or skipped
  std::string
      fix;  // one command; empty when ok or skipped, and where `why` says that no command mends it
};

// Reads the machine, thoroughly, and judges it: takes a tenth of a second.
std::vector<DiagnosticCheck> Diagnose(SystemProbe probe);

// Whether the events that can be counted counted known work as they must, when that was tried last.
// Pure.
DiagnosticCheck CheckEventsThatCount(const CounterReport& report);

// Judges what was read. Pure.
std::vector<DiagnosticCheck> Judge(const SystemFacts& facts);

}  // namespace tinyprof
