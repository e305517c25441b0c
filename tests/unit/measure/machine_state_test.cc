#include "daemon/measure/machine_state.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace tinyprof {
namespace {

TEST(StealNs, IsTheEighthFieldOfTheFirstLine) {
  EXPECT_EQ(StealNs("cpu  10 20 30 40 50 60 70 123 9 9\ncpu0 1 1 1 1 1 1 1 1\n", 100),
            1'230'000'000);
  EXPECT_EQ(StealNs("cpu  1 2 3 4 5 6 7 0", 250), 0);
}

TEST(StealNs, IsAbsentWhereTheKernelDoesNotSay) {
  EXPECT_EQ(StealNs("", 100), std::nullopt);
  EXPECT_EQ(StealNs("cpu  1 2 3 4 5 6 7", 100), std::nullopt);
  EXPECT_EQ(StealNs("cpu  1 2 3 4 5 6 x 8", 100), std::nullopt);
  EXPECT_EQ(StealNs("intr 1 2 3 4 5 6 7 8", 100), std::nullopt);
  EXPECT_EQ(StealNs("cpu  1 2 3 4 5 6 7 8", 0), std::nullopt);
}

TEST(WarnOfCalibration, OnlyWhereThePeakIsTheCalibrations) {
  const auto warnings = [](CalibrationPeak peak, int64_t max_resident_bytes) {
    RunMeasurement run;
    run.max_resident_bytes = max_resident_bytes;
    WarnOfCalibration(peak, run);
    return run.warnings;
  };
  const std::vector<std::string> warned = warnings({10'000, 60'000}, 60'000);
  ASSERT_EQ(warned.size(), 1U);
  EXPECT_NE(warned[0].find("less than these 58.6 KiB"), std::string::npos);
  EXPECT_TRUE(warnings({10'000, 60'000}, 60'001).empty()) << "the model took more";
  EXPECT_TRUE(warnings({10'000, 10'000}, 10'000).empty()) << "it took no more than was taken";
}

TEST(MachineWatch, AThreadAloneHasNoPingPongAndTheClockTicks) {
  const MeasureOptions options;
  MachineWatch watch(options);
  std::vector<std::string> warnings;
  const MachineState state = watch.Finish(warnings);
  EXPECT_GT(state.clock_hz, 1e7);
  EXPECT_LT(state.clock_hz, 1e11);
  EXPECT_EQ(state.ping_pong_before_ns, std::nullopt);
  EXPECT_EQ(state.ping_pong_after_ns, std::nullopt);
}

TEST(MachineWatch, WhatTheKernelDoesNotTellIsAbsent) {
  const MeasureOptions options;
  MachineWatch watch(options, "/nonexistent/tree");
  std::vector<std::string> warnings;
  const MachineState state = watch.Finish(warnings);
  EXPECT_EQ(state.steal_ns, std::nullopt);
  EXPECT_EQ(state.huge_pages, "");
}

TEST(MaxResidentBytes, GrowsWithTouchedMemory) {
  const int64_t before_bytes = MaxResidentBytes();
  std::vector<char> memory(64 << 20);
  for (size_t i = 0; i < memory.size(); i += 4096) {
    static_cast<volatile char*>(memory.data())[i] = 1;
  }
  EXPECT_GE(MaxResidentBytes(), before_bytes);
  EXPECT_GE(MaxResidentBytes(), int64_t{64} << 20);
}

// The kernel gives a program that another has started the other's peak as its own ru_maxrss.
TEST(MaxResidentBytes, IsNotThatOfTheProcessThatStartedThisOne) {
  constexpr const char* kChild = "TINYPROF_TEST_IS_THE_CHILD";
  if (getenv(kChild) != nullptr) {
    _exit(MaxResidentBytes() < (int64_t{256} << 20) ? 0 : 1);
  }
  std::vector<char> memory(512 << 20, 1);
  ASSERT_EQ(memory.back(), 1);
  ASSERT_EQ(setenv(kChild, "1", 1), 0);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=MaxResidentBytes.IsNot*";
  char* arguments[] = {program.data(), filter.data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ), 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  unsetenv(kChild);
}

}  // namespace
}  // namespace tinyprof
