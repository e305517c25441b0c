// Which events count a metric on which CPU.
//
// The catalogue is data, one file of catalogue/ for each family of CPUs: for each metric the
// formulas to try in order, or why there is none. A formula is a weighted sum of events,
// "4*A + 8*B - C"; the result is one count of one pass. A row that names an event is no promise:
// each is tried by counting before it is used.
//
// All functions are pure and may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters/cpu_family.h"
#include "daemon/counters/raw_event.h"
#include "kernels/base/error.h"

namespace tinyprof {

enum class Metric {
  kFlops,  // single and double precision together
  kCycles,
  kInstructions,
  kL1dMisses,
  kL2Misses,
  kL3Misses,
  kDramBytes,
  kFlopsSingle,
  kFlopsDouble,
  kStallCycles,
  kBranchMisses,
  kDtlbMisses,  // data accesses whose page had to be looked up in the page table
};
inline constexpr std::array kMetrics = {
    Metric::kFlops,       Metric::kCycles,      Metric::kInstructions, Metric::kL1dMisses,
    Metric::kL2Misses,    Metric::kL3Misses,    Metric::kDramBytes,    Metric::kFlopsSingle,
    Metric::kFlopsDouble, Metric::kStallCycles, Metric::kBranchMisses, Metric::kDtlbMisses};

// "flops", "cycles", "instructions", "l1d_misses", "l2_misses", "l3_misses", "dram_bytes",
// "flops_single", "flops_double", "stall_cycles", "branch_misses", "dtlb_misses".
std::string_view Name(Metric metric);
// "flop", "cycle", "count" or "byte".
std::string_view Unit(Metric metric);

enum class Answer { kNo, kYes, kUnknown };

// How FLOPs come of the events of a formula.
struct FlopRule {
  // What a fused multiply-add gives for each lane once weighted; absent: not known.
  std::optional<int> per_fma;
  // The event counts the operations of all lanes; otherwise it counts instructions, which the
  // formula multiplies by their lanes.
  bool lanes_in_event = false;
  Answer masked_lanes = Answer::kUnknown;  // lanes that a mask or predicate switches off count
  Answer min_max = Answer::kUnknown;       // minimum and maximum count as operations
};

// What a formula counts.
struct CountingRule {
  std::optional<FlopRule> flops;         // of a metric of FLOPs
  Answer speculative = Answer::kNo;      // work on a mispredicted path counts
  Answer prefetches = Answer::kUnknown;  // of cache metrics: hardware prefetchers' fills count
  bool proxy = false;                    // another quantity, from which this one is estimated
};

struct Formula {
  struct Term {
    std::string event;
    double weight = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;  // at least one
  std::string note;         // what to know when reading the count; may be empty
  CountingRule rule;
  int counters = 0;  // of the PMU, that its events hold together; 0: not known

  // "4*A + 8*B - C".
  std::string ToString() const;
  // ToString(), after "estimate: " where another quantity stands in for the metric.
  std::string Describe() const;
};

// Reads "[weight*]event {(+|-) [weight*]event}". Events have no blanks, '*' or '+' in their names.
// INVALID_ARGUMENT / "BAD_FORMULA" otherwise.
Result<Formula> ParseFormula(std::string_view text);

// What the catalogue has for a metric: formulas to try in order, and why the metric is absent when
// there is none or none works.
struct MetricCandidates {
  std::vector<Formula> formulas;
  std::string absent_reason;  // "CODE: sentence"
};
MetricCandidates CandidatesFor(CpuFamily family, Metric metric);
// `pmu` as FamilyOf reads it.
MetricCandidates CandidatesFor(std::string_view pmu, Metric metric);

// How the kernel counts an event that the family's formulas name, presets included. Absent for any
// other name, and for presets of which only PAPI knows the events (those of the generic family).
std::optional<RawEvent> RawEncoding(CpuFamily family, std::string_view event);

}  // namespace tinyprof
