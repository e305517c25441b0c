// Which events count a metric on which CPU.
//
// The table is data (event_table.cc): for each PMU, by libpfm4's name, and metric the formulas to
// try in order. A formula is a weighted sum of events, "4*A + 8*B - C"; the result is one count of
// one pass. A row that names an event is no promise: each is tried by counting before it is used.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

enum class Metric {
  kFlops,
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
  kDtlbMisses,
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

struct Formula {
  struct Term {
    std::string event;
    double weight = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;  // at least one
  std::string note;         // what to know when reading the count; may be empty

  // "4*A + 8*B - C".
  std::string ToString() const;
};

// Reads "[weight*]event {(+|-) [weight*]event}". Events have no blanks, '*' or '+' in their names.
// INVALID_ARGUMENT / "BAD_FORMULA" otherwise.
Result<Formula> ParseFormula(std::string_view text);

// A row of the table. `pmu` is a prefix of libpfm4's name of the core PMU, so that "skx" stands for
// its steppings; empty: every PMU, after the rows of its own. `formula` is empty in a row that only
// gives, as `note`, the reason why the metric cannot be had ("CODE: sentence").
struct EventRow {
  std::string_view pmu;
  Metric metric;
  std::string_view formula;
  std::string_view note;
};
std::span<const EventRow> EventTable();

// What the table has for a metric: formulas to try in order, and why the metric is absent when
// there is none or none works.
struct MetricCandidates {
  std::vector<Formula> formulas;
  std::string absent_reason;  // "CODE: sentence"
};
MetricCandidates CandidatesFor(std::string_view pmu, Metric metric);

}  // namespace tinyprof
