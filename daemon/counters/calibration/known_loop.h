// A loop whose counts are known, and what it must count.
//
// The facts are apart from the code, so that what one machine counted can be judged on another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tinyprof {

enum class WorkKind {
  kAdd,     // floating-point additions
  kFma,     // fused multiply-adds
  kMinMax,  // minima or maxima
  kDivide,  // floating-point divisions
  kLoad,    // loads that each wait for the one before, one a cache line
  kBranch,  // branches that cannot be predicted
  kPages,   // loads as above, one a page, of more pages than a TLB holds
};
// "add", "fma", "min_max", "divide", "load", "branch", "pages".
std::string_view Name(WorkKind kind);

// Where a loop finds its lines.
enum class WorkingSet { kRegisters, kL1, kL2, kL3, kDram };
// "registers", "l1", "l2", "l3", "dram".
std::string_view Name(WorkingSet set);

// What a FLOP event may or may not count; vendors do not agree.
struct FlopDefinition {
  bool fma_as_two = true;
  bool masked_off_lanes = true;
  bool min_max = false;
  friend bool operator==(const FlopDefinition&, const FlopDefinition&) = default;
};

// Everything "an iteration" is exact; tests count the instructions by single-stepping.
struct LoopFacts {
  std::string name;  // "avx512_fma_float64"
  WorkKind kind = WorkKind::kAdd;
  bool double_precision = false;
  int64_t width_bits = 0;    // of a register; 0 where no floating-point instruction is
  int64_t lanes = 0;         // elements in a register
  int64_t active_lanes = 0;  // elements that the mask lets through; `lanes` without a mask
  int64_t arithmetic = 0;    // floating-point instructions an iteration
  int64_t instructions = 0;  // all instructions an iteration
  int64_t loads = 0;         // an iteration
  int64_t branches = 1;      // an iteration
  WorkingSet set = WorkingSet::kRegisters;
  bool in_order = false;  // loads go through memory in order, so that prefetchers help

  bool floating_point() const { return arithmetic > 0; }
  int64_t FlopsPerIteration(const FlopDefinition& definition) const;
  friend bool operator==(const LoopFacts&, const LoopFacts&) = default;
};

struct KnownLoop {
  LoopFacts facts;
  int64_t iterations = 0;  // of a dose, which takes well under a millisecond
  // Makes everything ready for `run(n)`, outside of what is counted; false when the system gives no
  // memory. May be empty.
  std::function<bool(int64_t n)> prepare;
  // n iterations, at least 0.
  std::function<void(int64_t n)> run;
};

// A loop of registers alone. The function does nothing when n <= 0.
struct ArithmeticLoop {
  LoopFacts facts;
  void (*run)(int64_t n);
};

// Those that this CPU can run, the most telling first. Names are ISA_KIND[_masked]_TYPE: scalar,
// sse, avx2, avx512 or neon; add, fma, max, min or div; float32 or float64.
std::vector<ArithmeticLoop> HostArithmeticLoops();

}  // namespace tinyprof
