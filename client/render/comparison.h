// How the times of two sides compare, one run or several each, layer by layer, and what speaks
// against comparing them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "client/render/speedup.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof::client {

struct LayerComparison {
  std::string name;  // of the nodes that the layers stand for, joined by "+"
  std::string op;    // of the second side's first layer
  double a_ns = 0;   // typical of the side's runs, as are the others
  double b_ns = 0;
  Speedup speedup;
};

// Layers that the other side has not got.
struct Unmatched {
  std::vector<std::string> names;
  double typical_ns = 0;
};

enum class Verdict { kFaster, kSlower, kNoDifference };

struct Comparison {
  Verdict verdict = Verdict::kNoDifference;  // of the second side's pass
  Speedup pass;
  // In the order of the second side. Layers stand against those that do the work of the same nodes:
  // a fused layer against its parts, layers of a quantized network against the float32 ones.
  std::vector<LayerComparison> layers;
  Unmatched only_a;
  Unmatched only_b;
  // What the intervals leave out, or empty.
  std::string note;
  // Differences of the machine, its state or the work that times depend on, a sentence each.
  std::vector<std::string> warnings;
};

// Whether runs can stand on one side: each once, and all of the same work, set up in the same way.
// INVALID_ARGUMENT / "RUNS_DIFFER", "RUN_TWICE". All have a report; at least one.
Status CheckSide(std::span<const v1::Run> runs);

// Both sides have passed CheckSide. `tolerance` is SpeedupOf's.
Comparison CompareRuns(std::span<const v1::Run> a, std::span<const v1::Run> b, double tolerance);

// The least difference worth telling of so many runs: of one run a side, what runs of the same
// network are seen to differ by on a busy machine, since no interval of theirs holds that.
double DefaultTolerance(size_t a_run_count, size_t b_run_count);

}  // namespace tinyprof::client
