// The checks behind Judge (diagnosis.h), by what they are about. Pure.
#pragma once

#include <string>
#include <vector>

#include "daemon/counters/diagnosis.h"

namespace tinyprof {

// Whether events can be counted at all, and what stops them.
std::vector<DiagnosticCheck> CheckCounting(const SystemFacts& facts);
// Variables that change what PAPI and libpfm4 do.
std::vector<DiagnosticCheck> CheckEnvironment(const SystemFacts& facts);
// Whether the machine is quiet enough to measure on.
std::vector<DiagnosticCheck> CheckQuietness(const SystemFacts& facts);

DiagnosticCheck CheckOk(std::string name, std::string found);
// What was not tried, or could not be: `found` says which.
DiagnosticCheck CheckSkipped(std::string name, std::string found);
DiagnosticCheck CheckNotTold(std::string name);
// A finding that nothing typed on this machine mends, with the reason for that.
DiagnosticCheck CheckUnmendable(std::string name, CheckState state, std::string found,
                                const std::string& why, const std::string& because);

}  // namespace tinyprof
