#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/counters/counter_report.h"
#include "daemon/counters/diagnosis.h"

namespace tinyprof {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CounterMetricReport Usable(const char* metric, Quality quality, const char* reason = "") {
  return {.metric = metric, .usable = true, .quality = quality, .reason = reason};
}
CounterMetricReport Absent(const char* metric, const char* reason) {
  return {.metric = metric, .usable = false, .reason = reason};
}

TEST(CheckEventsThatCount, AllWellWhereKnownWorkIsCountedAsItMust) {
  const DiagnosticCheck check = CheckEventsThatCount(
      {.usable = true,
       .metrics = {Usable("flops", Quality::kExact), Usable("cycles", Quality::kGood),
                   Absent("l3_misses", "NOT_PER_THREAD: none"),
                   Absent("dtlb_misses", "EVENT_NOT_ON_CPU: none")}});
  EXPECT_EQ(check.name, "events that count");
  EXPECT_EQ(check.state, CheckState::kOk);
  EXPECT_THAT(check.fix, IsEmpty());
}

TEST(CheckEventsThatCount, FailsAndNamesWhatNeverMoves) {
  const DiagnosticCheck check = CheckEventsThatCount(
      {.usable = true,
       .metrics = {Absent("flops", "NEVER_MOVES: the event counted nothing where x counts 8"),
                   Absent("cycles", "IMPLAUSIBLE: x counted 1"),
                   Usable("instructions", Quality::kExact)}});
  EXPECT_EQ(check.state, CheckState::kFail);
  EXPECT_THAT(check.found, AllOf(HasSubstr("flops"), HasSubstr("cycles"), HasSubstr("NEVER_MOVES"),
                                 Not(HasSubstr("instructions"))));
  EXPECT_THAT(check.why, AllOf(HasSubstr("no command mends that"),
                               HasSubstr("tinyprof-client counters --calibrate")));
  // Also where nothing is left, of which the backend itself is not to blame.
  EXPECT_EQ(CheckEventsThatCount({.usable = false,
                                  .reason = "NEVER_MOVES: x",
                                  .metrics = {Absent("flops", "NEVER_MOVES: x")}})
                .state,
            CheckState::kFail);
}

TEST(CheckEventsThatCount, WarnsOfWhatCountsAnotherAmount) {
  const DiagnosticCheck check = CheckEventsThatCount(
      {.usable = true,
       .metrics = {Usable("flops", Quality::kSuspect, "IMPLAUSIBLE: 1 of 2 loops are off"),
                   Usable("stall_cycles", Quality::kSuspect, "NOT_CALIBRATED: no loop")}});
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_THAT(check.found, AllOf(HasSubstr("flops"), Not(HasSubstr("stall_cycles"))));
}

TEST(CheckEventsThatCount, IsNotAskedWhereNothingCanBeCounted) {
  const DiagnosticCheck check = CheckEventsThatCount(
      {.usable = false, .reason = "NO_PMU: x", .metrics = {Absent("flops", "NO_PMU: x")}});
  EXPECT_EQ(check.state, CheckState::kSkip);
  EXPECT_THAT(check.found, HasSubstr("none can be counted"));
}

}  // namespace
}  // namespace tinyprof
