#include "daemon/jobs/job_queue.h"

#include <future>

#include "tests/unit/jobs/job_queue_fixture.h"

namespace tinyprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(JobQueueTest, RunSucceedsAndKeepsItsReport) {
  const std::string id = Start("mlp");
  const v1::Run run = WaitForEnd(id);
  EXPECT_EQ(run.state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_TRUE(run.has_start_time() && run.has_end_time());
  EXPECT_EQ(run.report().host().fingerprint(), "host-1");
  EXPECT_EQ(queue_->Get(id)->report().isa(), "baseline");
  MakeQueue();
  EXPECT_EQ(queue_->Get(id)->state(), v1::RUN_STATE_SUCCEEDED);
}

TEST_F(JobQueueTest, RunsWaitInOrderAndPositionsMove) {
  HoldRuns();
  const std::string a = Start("a");
  WaitForPhase(a, "timing");
  const std::string b = Start("b");
  const std::string c = Start("c");
  EXPECT_EQ(queue_->Get(b)->queue_position(), 1);
  EXPECT_EQ(queue_->Get(c)->queue_position(), 2);
  EXPECT_EQ(queue_->Get(a)->waits_for(), "");
  for (const std::string& waiting : {b, c}) {
    EXPECT_EQ(queue_->Get(waiting)->waits_for(), "run " + a + " (a)");
  }
  EXPECT_EQ(queue_->depth(), 3u);
  const uint64_t version = queue_->Watch(c, 0, steady_clock::now())->version;
  ASSERT_TRUE(queue_->Cancel(b).has_value());
  const auto moved = queue_->Watch(c, version, steady_clock::now() + seconds(20));
  EXPECT_GT(moved->version, version);
  EXPECT_EQ(moved->run.queue_position(), 1);
  gate_.Open();
  EXPECT_EQ(WaitForEnd(c).queue_position(), 0);
  EXPECT_EQ(queue_->Get(c)->waits_for(), "");
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "c"));
}

TEST_F(JobQueueTest, RequestHasTheFirstCpusAndTheLimits) {
  WorkerTask seen;
  runner_.profile = [&](const WorkerTask& task, const auto&...) -> Result<worker::WorkerEvent> {
    seen = task;
    worker::WorkerEvent event;
    event.mutable_report();
    return event;
  };
  v1::RunSpec spec = SpecOf("mlp");
  spec.mutable_timeout()->set_seconds(100'000);
  const auto before = steady_clock::now();
  WaitForEnd(queue_->Start(spec, "")->id());
  EXPECT_THAT(seen.request.cpus(), ElementsAre(2));
  EXPECT_EQ(seen.request.memory_limit_bytes(), int64_t{1} << 30);
  EXPECT_FALSE(seen.request.has_model_file());
  EXPECT_LE(seen.deadline - before, seconds(60) + seconds(20)) << "capped by the daemon";
}

TEST_F(JobQueueTest, WorkerErrorFailsTheRun) {
  runner_.profile = [](const auto&...) -> Result<worker::WorkerEvent> {
    return Fail(ErrorCode::kInternal, "WORKER_CRASHED", "it crashed", {{"layer", "conv1"}});
  };
  const v1::Run run = WaitForEnd(Start("a"));
  EXPECT_EQ(run.state(), v1::RUN_STATE_FAILED);
  EXPECT_EQ(run.error().reason(), "WORKER_CRASHED");
  EXPECT_EQ(run.error().layer(), "conv1");
  EXPECT_FALSE(run.has_report());
}

TEST_F(JobQueueTest, WrongOutcomeFailsTheRun) {
  runner_.profile = [](const auto&...) -> Result<worker::WorkerEvent> {
    return worker::WorkerEvent();
  };
  EXPECT_EQ(WaitForEnd(Start("a")).error().reason(), "WORKER_PROTOCOL");
}

TEST_F(JobQueueTest, CancelsARunThatWaits) {
  HoldRuns();
  const std::string a = Start("a");
  WaitForPhase(a, "timing");
  const std::string b = Start("b");
  const auto cancelled = queue_->Cancel(b);
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_EQ(cancelled->run.state(), v1::RUN_STATE_CANCELLED);
  EXPECT_FALSE(cancelled->already_ended);
  EXPECT_TRUE(queue_->Cancel(b)->already_ended);
  EXPECT_EQ(queue_->Get(b)->error().reason(), "CANCELLED");
  EXPECT_EQ(queue_->Get(a)->state(), v1::RUN_STATE_RUNNING);
}

TEST_F(JobQueueTest, CancelsTheRunThatIsMeasured) {
  HoldRuns();
  const std::string id = Start("a");
  WaitForPhase(id, "timing");
  ASSERT_TRUE(queue_->Cancel(id).has_value());
  const v1::Run run = WaitForEnd(id);
  EXPECT_EQ(run.state(), v1::RUN_STATE_CANCELLED);
  EXPECT_EQ(run.error().reason(), "CANCELLED");
}

TEST_F(JobQueueTest, CancelBeforeTheRunIsMeasuredNamesTheRoofline) {
  runner_.roofline = [this](const WorkerTask&, const ProgressFn&,
                            const std::stop_token& stop) -> Result<worker::WorkerEvent> {
    gate_.Pass(stop);
    return Fail(ErrorCode::kCancelled, "CANCELLED", "stopped");
  };
  const std::string id = Start("a");
  WaitForPhase(id, "roofline");
  ASSERT_TRUE(queue_->Cancel(id).has_value());
  const v1::Run run = WaitForEnd(id);
  EXPECT_EQ(run.state(), v1::RUN_STATE_CANCELLED);
  EXPECT_THAT(run.error().message(), HasSubstr("roofline --measure"));
}

TEST_F(JobQueueTest, CancelOfAnEndedRunChangesNothing) {
  const std::string id = Start("a");
  WaitForEnd(id);
  const auto cancelled = queue_->Cancel(id);
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_EQ(cancelled->run.state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_TRUE(cancelled->already_ended);
  EXPECT_EQ(queue_->Cancel("nobody").error().reason, "RUN_NOT_FOUND");
}

TEST_F(JobQueueTest, RequestIdMakesStartIdempotent) {
  HoldRuns();
  const auto first = queue_->Start(SpecOf("a"), "q-1");
  const auto again = queue_->Start(SpecOf("a"), "q-1");
  ASSERT_TRUE(first.has_value() && again.has_value());
  EXPECT_EQ(again->id(), first->id());
  v1::RunSpec explicit_default = SpecOf("a");
  explicit_default.set_threads(1);
  EXPECT_EQ(queue_->Start(explicit_default, "q-1")->id(), first->id()) << "it asks for the same";
  EXPECT_EQ(queue_->Start(SpecOf("b"), "q-1").error().reason, "REQUEST_ID_CONFLICT");
  gate_.Open();
  WaitForEnd(first->id());
  EXPECT_EQ(queue_->Start(SpecOf("a"), "q-1")->state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a"));
}

TEST_F(JobQueueTest, RefusesBadRequests) {
  EXPECT_EQ(queue_->Start(SpecOf("a"), "not valid").error().reason, "BAD_REQUEST_ID");
  EXPECT_EQ(queue_->Start(SpecOf("a"), std::string(65, 'x')).error().reason, "BAD_REQUEST_ID");
  EXPECT_EQ(queue_->Start(SpecOf("unknown"), "").error().reason, "UNKNOWN_MODEL");
  EXPECT_EQ(queue_->Start(SpecOf("large"), "").error().reason, "MODEL_TOO_LARGE");
  EXPECT_EQ(queue_->Start(SpecOf(""), "").error().reason, "BAD_MODEL");
  EXPECT_EQ(queue_->List(-1, "").error().reason, "BAD_PAGE_SIZE");
  EXPECT_EQ(queue_->List(1001, "").error().reason, "BAD_PAGE_SIZE");
  EXPECT_TRUE(queue_->List(0, "")->runs.empty()) << "what was refused leaves no run";
}

TEST_F(JobQueueTest, RefusesMoreThanTheQueueHolds) {
  MakeQueue(1);
  HoldRuns();
  WaitForPhase(Start("a"), "timing");
  Start("b");
  const auto refused = queue_->Start(SpecOf("c"), "");
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(refused.error().reason, "QUEUE_FULL");
  EXPECT_EQ(queue_->ProbeCounters().error().reason, "QUEUE_FULL");
  EXPECT_EQ(queue_->List(10, "")->runs.size(), 2u);
}

TEST_F(JobQueueTest, ListShowsLiveStates) {
  HoldRuns();
  const std::string a = Start("a");
  WaitForPhase(a, "timing");
  const std::string b = Start("b");
  const auto page = queue_->List(10, "");
  ASSERT_EQ(page->runs.size(), 2u);
  EXPECT_EQ(page->runs[0].id(), b);
  EXPECT_EQ(page->runs[0].queue_position(), 1);
  EXPECT_EQ(page->runs[1].progress().phase(), "timing");
}

TEST_F(JobQueueTest, WatchEndsAtItsDeadline) {
  HoldRuns();
  const std::string id = Start("a");
  const v1::Run running = WaitForPhase(id, "timing");
  const uint64_t version = queue_->Watch(id, 0, steady_clock::now())->version;
  const auto same = queue_->Watch(id, version, steady_clock::now() + milliseconds(20));
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->version, version);
  EXPECT_FALSE(same->ended);
  EXPECT_EQ(queue_->Watch("nobody", 0, steady_clock::now()).error().reason, "RUN_NOT_FOUND");
}

TEST_F(JobQueueTest, WatchOfAnEndedRunReturnsAtOnce) {
  const std::string id = Start("a");
  WaitForEnd(id);
  const auto snapshot = queue_->Watch(id, 0, steady_clock::time_point::max());
  EXPECT_TRUE(snapshot->ended);
  EXPECT_TRUE(queue_->Watch(id, snapshot->version, steady_clock::time_point::max())->ended);
}

TEST_F(JobQueueTest, DeletesOnlyEndedRuns) {
  HoldRuns();
  const std::string id = Start("a");
  EXPECT_EQ(queue_->Delete(id).error().reason, "RUN_NOT_ENDED");
  gate_.Open();
  WaitForEnd(id);
  EXPECT_TRUE(queue_->Delete(id).has_value());
  EXPECT_EQ(queue_->Get(id).error().reason, "RUN_NOT_FOUND");
}

TEST_F(JobQueueTest, DrainLetsTheMeasuredRunEndAndCancelsTheRest) {
  HoldRuns();
  const std::string a = Start("a");
  WaitForPhase(a, "timing");
  const std::string b = Start("b");
  auto drained = std::async(std::launch::async, [&] { queue_->Drain(seconds(20)); });
  EXPECT_EQ(WaitForEnd(b).error().reason(), "DRAINING");
  const auto refused = queue_->Start(SpecOf("c"), "");
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().reason, "DRAINING");
  EXPECT_EQ(queue_->MeasureRoofline().error().reason, "DRAINING");
  gate_.Open();
  drained.get();
  EXPECT_EQ(queue_->Get(a)->state(), v1::RUN_STATE_SUCCEEDED);
}

TEST_F(JobQueueTest, DrainCancelsTheMeasuredRunWhenTimeIsUp) {
  HoldRuns();
  const std::string id = Start("a");
  WaitForPhase(id, "timing");
  queue_->Drain(milliseconds(10));
  const v1::Run run = *queue_->Get(id);
  EXPECT_EQ(run.state(), v1::RUN_STATE_CANCELLED);
  EXPECT_EQ(run.error().reason(), "DRAINING");
  queue_->Drain(milliseconds(10));
}

TEST_F(JobQueueTest, DestructionEndsEveryRun) {
  HoldRuns();
  const std::string a = Start("a");
  WaitForPhase(a, "timing");
  const std::string b = Start("b");
  queue_.reset();
  EXPECT_EQ(store_->runs().Get(a)->state(), v1::RUN_STATE_CANCELLED);
  EXPECT_EQ(store_->runs().Get(b)->state(), v1::RUN_STATE_CANCELLED);
}

TEST_F(JobQueueTest, ManyCallersAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kRunsEach = 8;
  std::atomic<int> succeeded{0};
  std::atomic<int> cancelled{0};
  std::vector<std::jthread> callers;
  for (int t = 0; t < kThreads; ++t) {
    callers.emplace_back([&, t] {
      for (int i = 0; i < kRunsEach; ++i) {
        const std::string id = Start("model-" + std::to_string(t));
        if (i % 2 == 1) {
          EXPECT_TRUE(queue_->Cancel(id).has_value());
        }
        const v1::Run run = WaitForEnd(id);
        ++(run.state() == v1::RUN_STATE_SUCCEEDED ? succeeded : cancelled);
        EXPECT_TRUE(queue_->List(5, "").has_value());
      }
    });
  }
  callers.clear();
  queue_->Drain(seconds(20));
  EXPECT_EQ(succeeded + cancelled, kThreads * kRunsEach);
  EXPECT_GE(succeeded, kThreads * kRunsEach / 2);
  EXPECT_EQ(queue_->depth(), 0u);
}

}  // namespace
}  // namespace tinyprof
