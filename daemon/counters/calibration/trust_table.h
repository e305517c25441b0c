// What known loops counted, beside what they should: why each metric is trusted as far as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/counters/trust.h"

namespace tinyprof {

// A range that a count must be in; all three are equal where the count is known exactly.
struct Expectation {
  double low = 0;
  double nominal = 0;
  double high = 0;

  bool exact() const { return low == high; }
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

// One loop counted for one metric. Counts are of `iterations` iterations, in the metric's unit.
struct TrustRow {
  std::string loop;     // "avx512_fma_float64"
  std::string metric;   // "flops"
  std::string formula;  // "4*A + 8*B"
  int64_t iterations = 0;
  std::optional<Expectation> expected;  // absent: the loop is there to find something out
  std::optional<double> measured;       // median of the repeats; absent: see reason
  std::optional<double> spread;         // largest less smallest; present with measured
  std::optional<Quality> quality;       // present with both expected and measured
  std::string reason;                   // "CODE: sentence" when not counted or suspect
};

struct TrustTable {
  std::vector<TrustRow> rows;  // by metric, the most telling loops first
  double elapsed_ns = 0;
  bool complete = true;  // false: time ran out and some loops were not counted
};

}  // namespace tinyprof
