// What a run is told of the counters.
#include <future>
#include <thread>

#include "tests/unit/jobs/job_queue_fixture.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

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

TEST_F(JobCountersTest, AfterCountsThatCannotBeRightCountersAreCalibratedOnceBeforeTheNextRun) {
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
    FindCounters(fails ? "third" : "second");
    v1::RunSpec uncounted = SpecOf("uncounted");
    uncounted.set_counters(v1::COUNTER_MODE_NONE);
    WaitForEnd(queue_->Start(uncounted, "")->id());
    WaitForEnd(Start("next"));
    FindCounters("asked for by nobody");
    WaitForEnd(Start("after"));
  }
  EXPECT_THAT(known_, ElementsAre("first", "none", "second", "second",  //
                                  "second", "none", "third", "third"));
  EXPECT_THAT(calibrated_, ElementsAre("second", "third"));
}

TEST_F(JobCountersTest, ACalibrationThatFailsIsTriedAgainBeforeTheNextRunAndFailsNone) {
  NoteKnownCounters();
  const auto well = runner_.profile;
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  runner_.profile = [&](const auto&... arguments) {
    Result<worker::WorkerEvent> event = well(arguments...);
    event->mutable_report()->add_doubted_metrics("cycles");
    return event;
  };
  WaitForEnd(Start("doubted"));
  runner_.profile = well;
  runner_.counters = [](const auto&...) -> Result<worker::WorkerEvent> {
    return Fail(ErrorCode::kResourceExhausted, "WORKER_KILLED", "somebody killed it");
  };
  EXPECT_EQ(WaitForEnd(Start("a")).state(), v1::RUN_STATE_SUCCEEDED);
  FindCounters("again");
  WaitForEnd(Start("b"));
  EXPECT_THAT(known_, ElementsAre("known", "none", "again"));
  EXPECT_THAT(calibrated_, ElementsAre("again"));
}

TEST_F(JobCountersTest, ARunThatWaitsForACalibrationCanBeCancelled) {
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  host_number_ = 2;
  runner_.counters = [&](const WorkerTask&, const ProgressFn&,
                         const std::stop_token& stop) -> Result<worker::WorkerEvent> {
    gate_.Pass(stop);
    return Fail(ErrorCode::kCancelled, "CANCELLED", "stopped");
  };
  const std::string run = Start("a");
  WaitForPhase(run, "calibrating counters");
  ASSERT_TRUE(queue_->Cancel(run).has_value());
  EXPECT_EQ(WaitForEnd(run).state(), v1::RUN_STATE_CANCELLED);
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
  FindCounters("of host 2");
  WaitForEnd(Start("on another host"));
  WaitForEnd(Start("on that host still"));
  host_number_ = 1;
  FindCounters("of host 1");
  WaitForEnd(Start("back again"));
  MakeQueue();
  const v1::Run run = WaitForEnd(Start("after a restart"));
  EXPECT_THAT(known_, ElementsAre("of host 2", "of host 2", "of host 1", "none"));
  EXPECT_FALSE(run.report().has_trust());
}

// What ends the worker that opens events ends the worker of a run, too, if it opens them.
TEST_F(JobCountersTest, EventsThatEndTheWorkerAreNotOpenedByRuns) {
  struct Row {
    const char* worker_reason;
    const char* reason;
  };
  std::vector<std::string> off;
  runner_.profile = [&](const WorkerTask& task, const auto&...) {
    off.push_back(task.request.has_events_off() ? task.request.events_off().reason() : "on");
    EXPECT_FALSE(task.request.has_known_counters() && task.request.has_events_off());
    worker::WorkerEvent event;
    event.mutable_report();
    return event;
  };
  for (const Row& row :
       {Row{"WORKER_CRASHED", "CALIBRATION_CRASHED"}, Row{"WORKER_PROTOCOL", "CALIBRATION_CRASHED"},
        Row{"TIMEOUT", "CALIBRATION_STUCK"}, Row{"SECCOMP", "SECCOMP"}}) {
    SCOPED_TRACE(row.worker_reason);
    off.clear();
    runner_.counters = [&](const auto&...) -> Result<worker::WorkerEvent> {
      return Fail(ErrorCode::kInternal, row.worker_reason, "so it ended");
    };
    const auto counters = queue_->ProbeCounters();
    ASSERT_TRUE(counters.has_value());
    EXPECT_FALSE(counters->counters().usable());
    EXPECT_THAT(counters->counters().reason(), StartsWith(std::string(row.reason) + ": "));
    // Each metric of the contract is there, with the reason.
    EXPECT_GT(counters->counters().metrics_size(), 12);
    WaitForEnd(Start("a"));
    runner_.counters = {};
    ASSERT_TRUE(queue_->ProbeCounters().has_value());
    WaitForEnd(Start("b"));
    EXPECT_THAT(off, ElementsAre(row.reason, "on"));
  }
}

TEST_F(JobCountersTest, AWorkerThatWasEndedFromOutsideSaysNothingOfEvents) {
  NoteKnownCounters();
  runner_.counters = [](const auto&...) -> Result<worker::WorkerEvent> {
    return Fail(ErrorCode::kResourceExhausted, "WORKER_KILLED", "somebody killed it");
  };
  EXPECT_EQ(queue_->ProbeCounters().error().reason, "WORKER_KILLED");
  WaitForEnd(Start("a"));
  EXPECT_THAT(known_, ElementsAre("none"));
}

TEST_F(JobCountersTest, ACalibrationHasADeadlineOfItsOwn) {
  std::chrono::steady_clock::time_point deadline;
  runner_.counters = [&](const WorkerTask& task, const auto&...) {
    deadline = task.deadline;
    worker::WorkerEvent event;
    event.mutable_counters();
    return event;
  };
  const auto before = std::chrono::steady_clock::now();
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  EXPECT_LE(deadline - std::chrono::steady_clock::now(), JobQueueOptions().calibration_timeout);
  EXPECT_GE(deadline - before, JobQueueOptions().calibration_timeout);
}

TEST_F(JobCountersTest, ADrainDoesNotWaitForACalibration) {
  runner_.counters = [&](const WorkerTask&, const ProgressFn&,
                         const std::stop_token& stop) -> Result<worker::WorkerEvent> {
    gate_.Pass(stop);
    return Fail(ErrorCode::kCancelled, "CANCELLED", "stopped");
  };
  auto counters = std::async(std::launch::async, [&] { return queue_->ProbeCounters(); });
  while (runner_.order().empty()) std::this_thread::yield();
  queue_->Drain(std::chrono::hours(1));
  EXPECT_EQ(counters.get().error().reason, "DRAINING");
}

TEST_F(JobCountersTest, CountersThatTheStoreDoesNotTakeAreToldAllTheSame) {
  NoteKnownCounters();
  FindCounters("not stored");
  const auto database = Database::Open(directory_.File("store.db"));
  ASSERT_TRUE(database.has_value());
  ASSERT_TRUE((*database)->Execute("DROP TABLE counter_reports").has_value());
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  WaitForEnd(Start("a"));
  EXPECT_THAT(known_, ElementsAre("not stored"));
}

}  // namespace
}  // namespace tinyprof
