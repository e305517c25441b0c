// What no core does, however it is made: counts beyond are not those of the work that was counted.
#pragma once

namespace tinyprof {

// The widest cores retire 8 to 12 in a cycle.
inline constexpr double kMostInstructionsPerCycle = 16;
// Two units for multiply-adds of 16 single-precision lanes give 64 FLOPs a cycle, and with two more
// for additions 96. An instruction has at most the 64 lanes of a vector of 2048 bits.
inline constexpr double kMostFlopsPerCycle = 128;
inline constexpr double kMostFlopsPerInstruction = 128;
// A first-level cache is filled by one line of 64 bytes a cycle, or two; what lies behind it is
// slower. Instructions are no limit: one of x86's moves as much memory as it is told.
inline constexpr double kMostLinesPerCycle = 2;
inline constexpr double kMostBytesPerCycle = 64 * kMostLinesPerCycle;
// Page walks, of a core that has four walkers.
inline constexpr double kMostPageWalksPerCycle = 4;
// Of stalls in cycles, which are of another pass.
inline constexpr double kMostStallsPerCycle = 1.5;
// The clock of one core, up or down, between when it was measured and when it counted. Time in the
// kernel, where user-mode events stand still, has room in it as well.
inline constexpr double kMostClockChange = 8;

// The smallest pages that a prefetcher of a first-level cache stays within, so that the first line
// of each is missed; and more than the largest such cache.
inline constexpr double kPageBytes = 4096;
inline constexpr double kMoreThanAnyL1Bytes = 2 << 20;
// A core that runs for so long has stalled at least once: each mispredicted branch refills its
// pipeline.
inline constexpr double kCyclesWithAStall = 1e6;

}  // namespace tinyprof
