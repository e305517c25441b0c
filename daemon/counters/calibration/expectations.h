// What a loop must count of a metric. Pure; the one place where this is said.
#pragma once

#include <optional>

#include "daemon/counters/calibration/known_loop.h"
#include "daemon/counters/calibration/trust_table.h"
#include "daemon/counters/event_catalogue.h"

namespace tinyprof {

// Whether the loop is counted for the metric at all.
bool Concerns(Metric metric, const LoopFacts& facts);

// Of one iteration. Absent where the loop finds something out that no rule foretells, and for
// stall cycles when `cycles_per_iteration` is not known. FLOPs by `definition`.
//
// Ranges, since neighbours' lines, page walks and prefetchers blur misses: half to twice the lines
// where a level must miss, a tenth of them where it must hit (three tenths in a level whose lines
// compete with other data); half to three times the pages for the TLB, whose events may count each
// level of it; three to seven tenths of the unpredictable branches. Cycles lie between 16
// instructions a cycle, which no core retires, and 100 cycles an instruction, 2000 with memory or
// divisions. A chain of loads from DRAM stalls for at least a quarter of its cycles.
std::optional<Expectation> ExpectationOf(Metric metric, const LoopFacts& facts,
                                         const FlopDefinition& definition,
                                         std::optional<double> cycles_per_iteration);

}  // namespace tinyprof
