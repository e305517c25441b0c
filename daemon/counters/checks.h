// The checks behind Judge (diagnosis.h), by what they are about. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters/diagnosis.h"

namespace tinyprof {

// Whether events can be counted at all, and what stops them.
std::vector<DiagnosticCheck> CheckCounting(const SystemFacts& facts);
// Whether PAPI and libpfm4 know how.
std::vector<DiagnosticCheck> CheckPapi(const SystemFacts& facts);
// What this process may do: levels, capabilities, filters.
std::vector<DiagnosticCheck> CheckRights(const SystemFacts& facts);
// Variables that change what PAPI and libpfm4 do.
std::vector<DiagnosticCheck> CheckEnvironment(const SystemFacts& facts);
// The variable, if it is set.
const EnvironmentFact* FindVariable(const SystemFacts& facts, std::string_view name);
// Whether the machine is quiet enough to measure on.
std::vector<DiagnosticCheck> CheckQuietness(const SystemFacts& facts);

DiagnosticCheck CheckOk(std::string name, std::string found);
// What was not tried, or could not be: `found` says which.
DiagnosticCheck CheckSkipped(std::string name, std::string found);
DiagnosticCheck CheckNotTold(std::string name);
// The failed check of an event that perf_event_open refused.
DiagnosticCheck CheckRefused(std::string name, int error_number, const std::string& why,
                             const SystemFacts& facts);
// A finding that nothing typed on this machine mends, with the reason for that.
DiagnosticCheck CheckUnmendable(std::string name, CheckState state, std::string found,
                                const std::string& why, const std::string& because);

}  // namespace tinyprof
