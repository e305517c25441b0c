// Why counters cannot be had, or measuring is not as quiet as it could be, and the one command that
// mends it. Reading the machine (system_facts.h) is apart from judging it, which is pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters/system_facts.h"

namespace tinyprof {

enum class CheckState { kOk, kWarn, kFail };
// "ok", "warn", "fail".
std::string_view Name(CheckState state);

struct DiagnosticCheck {
  std::string name;  // "hardware counters"
  CheckState state = CheckState::kOk;
  std::string found;
  std::string why;  // empty when ok
  std::string fix;  // empty when ok, and where no command helps
};

// Reads the machine and judges it.
std::vector<DiagnosticCheck> Diagnose(const SystemProbe& probe);

// Judges what was read. Pure.
std::vector<DiagnosticCheck> Judge(const SystemFacts& facts);

}  // namespace tinyprof
