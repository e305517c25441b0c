// How the times of two runs compare, layer by layer, and what speaks against comparing them.
#pragma once

#include <string>
#include <vector>

#include "tinyprof/v1/run.pb.h"

namespace tinyprof::client {

// A median with the ends of its confidence interval, ns; of several layers, their sums.
struct Span {
  double median_ns = 0;
  double low_ns = 0;
  double high_ns = 0;
};

// How many times as fast the second is: a ratio of medians. The interval holds every ratio of two
// values within the confidence intervals of the medians, so that it errs on the side of no
// difference.
struct Speedup {
  double value = 1;
  double ci_low = 1;
  double ci_high = 1;
  // The interval does not hold 1, and the ratio is further from it than the tolerance.
  bool significant = false;
};

struct LayerComparison {
  std::string name;  // of the nodes that the layers stand for, joined by "+"
  std::string op;    // of the second run's first layer
  Span a;
  Span b;
  Speedup speedup;
};

// Layers that the other run has not got.
struct Unmatched {
  std::vector<std::string> names;
  double median_ns = 0;
};

enum class Verdict { kFaster, kSlower, kNoDifference };

struct Comparison {
  Verdict verdict = Verdict::kNoDifference;  // of the second run's pass
  Speedup pass;
  // In the order of the second run. Layers stand against those that do the work of the same nodes:
  // a fused layer against its parts, layers of a quantized network against the float32 ones.
  std::vector<LayerComparison> layers;
  Unmatched only_a;
  Unmatched only_b;
  // Differences of the machine, its state or the work that times depend on, a sentence each.
  std::vector<std::string> warnings;
};

// Both runs have a report. Ratios that differ from 1 by at most `tolerance`, a share, are no
// difference.
Comparison CompareRuns(const v1::Run& a, const v1::Run& b, double tolerance);

}  // namespace tinyprof::client
