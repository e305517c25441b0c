// What a run is told of the counters.
#include <future>

#include "tests/unit/jobs/job_queue_fixture.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;

using JobCountersTest = JobQueueTest;

TEST_F(JobCountersTest, ARunCarriesTheTrustTableOfItsHost) {
  EXPECT_FALSE(WaitForEnd(Start("before")).report().has_trust());
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  const v1::Run run = WaitForEnd(Start("after"));
  ASSERT_EQ(run.report().trust().rows_size(), 1);
  EXPECT_EQ(run.report().trust().rows(0).loop(), "known");
}

TEST_F(JobCountersTest, ARunKeepsTheTrustTableOfItsOwnPlan) {
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  runner_.profile = [](const auto&...) {
    worker::WorkerEvent event;
    event.mutable_report()->mutable_trust()->add_rows()->set_loop("calibrated in the run");
    return event;
  };
  const v1::Run run = WaitForEnd(Start("a"));
  ASSERT_EQ(run.report().trust().rows_size(), 1);
  EXPECT_EQ(run.report().trust().rows(0).loop(), "calibrated in the run");
}

TEST_F(JobCountersTest, ARunIsToldTheCountersThatWereFoundLast) {
  NoteKnownCounters();
  WaitForEnd(Start("before"));
  FindCounters("first");
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  WaitForEnd(Start("a"));
  WaitForEnd(Start("b"));
  FindCounters("second");
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  WaitForEnd(Start("c"));
  EXPECT_THAT(known_, ElementsAre("none", "first", "first", "second"));
}

TEST_F(JobCountersTest, AfterCountsThatCannotBeRightTheNextRunCalibrates) {
  NoteKnownCounters();
  const auto well = runner_.profile;
  FindCounters("first");
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  for (const bool fails : {false, true}) {
    runner_.profile = [&](const WorkerTask& task, const auto& progress,
                          const auto& stop) -> Result<worker::WorkerEvent> {
      Result<worker::WorkerEvent> event = well(task, progress, stop);
      if (fails) return Fail(ErrorCode::kFailedPrecondition, "COUNTERS_UNAVAILABLE", "none");
      event->mutable_report()->add_doubted_metrics("cycles");
      return event;
    };
    WaitForEnd(Start("doubted"));
    runner_.profile = well;
    WaitForEnd(Start("next"));
    FindCounters("again");
    ASSERT_TRUE(queue_->ProbeCounters().has_value());
    WaitForEnd(Start("after"));
  }
  EXPECT_THAT(known_, ElementsAre("first", "none", "again", "again", "none", "again"));
}

TEST_F(JobCountersTest, ARunBeforeTheFirstCalibrationIsToldNothing) {
  HoldRuns();
  const std::string a = Start("a");
  WaitForPhase(a, "timing");
  auto counters = std::async(std::launch::async, [&] { return queue_->ProbeCounters(); });
  gate_.Open();
  EXPECT_TRUE(counters.get().has_value());
  EXPECT_FALSE(WaitForEnd(a).report().has_trust());
}

TEST_F(JobCountersTest, CountersOfAnotherHostOrAnEarlierDaemonAreNotTold) {
  NoteKnownCounters();
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  host_number_ = 2;
  WaitForEnd(Start("on another host"));
  host_number_ = 1;
  WaitForEnd(Start("back again"));
  MakeQueue();
  const v1::Run run = WaitForEnd(Start("after a restart"));
  EXPECT_THAT(known_, ElementsAre("none", "known", "none"));
  EXPECT_FALSE(run.report().has_trust());
}

TEST_F(JobCountersTest, CountersThatCouldNotBeFoundAreNotTold) {
  NoteKnownCounters();
  runner_.counters = [](const auto&...) -> Result<worker::WorkerEvent> {
    return Fail(ErrorCode::kInternal, "WORKER_CRASHED", "it crashed");
  };
  EXPECT_EQ(queue_->ProbeCounters().error().reason, "WORKER_CRASHED");
  WaitForEnd(Start("a"));
  EXPECT_THAT(known_, ElementsAre("none"));
}

}  // namespace
}  // namespace tinyprof
