// What a CPU counted of known loops, as a readable text that another machine can judge.
//
//   tinyprof counter recording 1
//   cpu Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz
//   microcode 0x2006e05
//   kernel 6.1.0-18-amd64
//   pmu skx
//   # a comment
//   loop avx2_add_float32 add single 256 bits 8 lanes 8 active 8 arithmetic 10 instructions
//        0 loads 1 branches registers random                                 (all on one line)
//   metric flops 4*A + 8*B
//   count avx2_add_float32 20000 1280000 1280000 1280001
//   expect flops good
//
// Loops come before their counts; a count is a loop, its iterations, and one number for each
// repeat, or "lost" and the reason. Cycles come first, since stalls are judged by them. A person
// who has looked at a recording adds what the verdicts must be. Loops tell their facts, so that a
// recording of an arm64 CPU is judged on x86-64.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters/calibration/judge.h"
#include "daemon/counters/event_catalogue.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct RecordedMetric {
  Metric metric = Metric::kFlops;
  std::string formula;
  std::vector<LoopSample> samples;  // `cycles` is not part of a recording; see JudgeRecording
};

struct Recording {
  std::string cpu;  // the model's name
  std::string microcode;
  std::string kernel;
  std::string pmu;
  std::vector<RecordedMetric> metrics;
  // What a person found that the verdicts must be, by metric: "exact", "good", "suspect", "absent".
  std::map<Metric, std::string> expected;
};

// `expected` is left out: it is for a person to say.
std::string FormatRecording(const Recording& recording);
// INVALID_ARGUMENT / "BAD_RECORDING" with the number of the line.
Result<Recording> ParseRecording(std::string_view text);

// The verdict of each metric of a recording, in its order; stalls by the recording's own cycles.
std::vector<MetricVerdict> JudgeRecording(const Recording& recording);

}  // namespace tinyprof
