// Work declared to a stand-in for the PMU, for tests without hardware counters: tests/pmu counts
// what is declared here as if counters had seen it. Without the stand-in nothing happens.
//
// Any thread; counts of different threads stay apart, and nothing orders them.
#pragma once

#include <cstdint>

namespace tinyprof {

// What work can be declared as. The kFp signals count instructions by width in bits and precision,
// as Intel's events do; kFlops counts operations, as AMD's event does.
enum class WorkSignal : int {
  kCycles,
  kInstructions,
  kFlops,
  kFpScalarSingle,
  kFp128Single,
  kFp256Single,
  kFp512Single,
  kFpScalarDouble,
  kFp128Double,
  kFp256Double,
  kFp512Double,
  kL1dMisses,
  kL2Misses,
  kL3Misses,
};
inline constexpr int kWorkSignals = 14;

}  // namespace tinyprof

// `count` more of `signal` (a WorkSignal) on the calling thread. Weak: null in a process without
// the stand-in.
extern "C" void TinyprofDeclareWork(int signal, std::int64_t count) __attribute__((weak));

namespace tinyprof {

inline bool WorkIsDeclared() { return TinyprofDeclareWork != nullptr; }

// Does nothing without the stand-in.
inline void DeclareWork(WorkSignal signal, std::int64_t count) {
  if (WorkIsDeclared()) {
    TinyprofDeclareWork(static_cast<int>(signal), count);
  }
}

// Declares work of `flop_count` single-precision operations: 256-bit instructions of 8 operations,
// scalar ones for the rest, two other instructions for each, and 100 that every piece of work
// takes; a cycle for each instruction.
void DeclareFlops(std::int64_t flop_count);

}  // namespace tinyprof
