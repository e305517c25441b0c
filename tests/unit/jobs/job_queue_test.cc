#include "daemon/jobs/job_queue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "daemon/jobs/run_state.h"
#include "tests/unit/jobs/fakes.h"
#include "tests/unit/store/temporary_directory.h"

namespace tinyprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::RunSpec SpecOf(const std::string& model) {
  v1::RunSpec spec;
  spec.mutable_model()->set_text(model);
  return spec;
}

class JobQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Store::Open(directory_.File("store.db"));
    ASSERT_TRUE(opened.has_value());
    store_ = *std::move(opened);
    MakeQueue();
  }

  void MakeQueue(size_t max_waiting_jobs = 64) {
    queue_.reset();
    queue_ =
        std::make_unique<JobQueue>(JobQueueOptions{.measurement_cpus = cpus_,
                                                   .max_waiting_jobs = max_waiting_jobs,
                                                   .memory_limit_bytes = memory_limit_bytes_,
                                                   .max_run_timeout = seconds(60)},
                                   JobQueueDependencies{.store = store_.get(),
                                                        .runner = &runner_,
                                                        .models = &models_,
                                                        .host =
                                                            [this] {
                                                              v1::Host host;
                                                              host.set_fingerprint(fmt::format(
                                                                  "host-{}", host_number_.load()));
                                                              return host;
                                                            },
                                                        .on_run_changed = {}});
  }

  // Makes every run wait for the gate, or for its cancellation.
  void HoldRuns() {
    runner_.profile = [this](const WorkerTask& task, const ProgressFn& on_progress,
                             const std::stop_token& stop) -> Result<worker::WorkerEvent> {
      v1::Progress progress;
      progress.set_phase("timing");
      on_progress(progress);
      if (!gate_.Pass(stop)) return Fail(ErrorCode::kCancelled, "CANCELLED", "stopped");
      worker::WorkerEvent event;
      event.mutable_report()->set_isa(task.request.profile().isa());
      return event;
    };
  }

  std::string Start(const std::string& model) {
    const auto run = queue_->Start(SpecOf(model), "");
    EXPECT_TRUE(run.has_value()) << run.error().message;
    return run.has_value() ? run->id() : "";
  }

  // Watches the run until `done` holds for it.
  v1::Run WaitUntil(const std::string& id, const std::function<bool(const v1::Run&)>& done) {
    uint64_t version = 0;
    const auto deadline = steady_clock::now() + seconds(20);
    while (true) {
      const auto snapshot = queue_->Watch(id, version, deadline);
      if (!snapshot.has_value() || steady_clock::now() >= deadline) {
        ADD_FAILURE() << "run " << id << " did not get there";
        return {};
      }
      if (done(snapshot->run)) return snapshot->run;
      if (snapshot->ended) {
        ADD_FAILURE() << "run " << id << " ended: " << snapshot->run.ShortDebugString();
        return snapshot->run;
      }
      version = snapshot->version;
    }
  }
  v1::Run WaitForEnd(const std::string& id) {
    return WaitUntil(id, [](const v1::Run& run) { return IsEnded(run.state()); });
  }
  v1::Run WaitForPhase(const std::string& id, const std::string& phase) {
    return WaitUntil(id, [&](const v1::Run& run) { return run.progress().phase() == phase; });
  }

  // What each profile run is told of the counters: the first loop of its table, or "none".
  void NoteKnownCounters() {
    runner_.profile = [this](const WorkerTask& task, const auto&...) {
      const v1::CounterReport& known = task.request.known_counters();
      known_.push_back(task.request.has_known_counters() ? known.trust().rows(0).loop() : "none");
      worker::WorkerEvent event;
      event.mutable_report();
      return event;
    };
  }
  // What the counters tasks find from now on.
  void FindCounters(const std::string& loop) {
    runner_.counters = [loop](const auto&...) {
      worker::WorkerEvent event;
      v1::CounterReport& report = *event.mutable_counters()->mutable_counters();
      report.mutable_trust()->add_rows()->set_loop(loop);
      return event;
    };
  }

  // Restarts the daemon's queue on the same store with other settings.
  void RestartWith(std::vector<int> cpus, int64_t memory_limit_bytes) {
    cpus_ = std::move(cpus);
    memory_limit_bytes_ = memory_limit_bytes;
    MakeQueue();
  }
  // A roofline with DRAM for one thread and for two, or without any.
  void MeasureRooflines(bool with_dram) {
    runner_.roofline = [with_dram](const auto&...) {
      worker::WorkerEvent event;
      v1::Roofline& roofline = *event.mutable_roofline();
      for (const int threads : {1, 2}) {
        for (const char* level : {"L1", "DRAM"}) {
          if (level == std::string_view("DRAM") && !with_dram) continue;
          v1::BandwidthCeiling& ceiling = *roofline.add_bandwidth();
          ceiling.set_level(level);
          ceiling.set_threads(threads);
        }
      }
      return event;
    };
  }

  std::vector<int> cpus_ = {2, 3};
  int64_t memory_limit_bytes_ = int64_t{1} << 30;
  std::atomic<int> host_number_ = 1;
  std::vector<std::string> known_;  // written by the executor; read it when no run goes on
  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  FakeRunner runner_;
  FakeModels models_;
  Gate gate_;
  std::unique_ptr<JobQueue> queue_;  // last: it uses all of the above until it is destroyed
};

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

TEST_F(JobQueueTest, FirstRunMeasuresTheRooflineOfThisHost) {
  EXPECT_EQ(queue_->StoredRoofline().error().reason, "NO_ROOFLINE");
  WaitForEnd(Start("a"));
  WaitForEnd(Start("b"));
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "b"));
  EXPECT_EQ(queue_->StoredRoofline()->clock_hz(), 3e9);
  EXPECT_EQ(queue_->StoredRoofline()->host().fingerprint(), "host-1");
}

TEST_F(JobQueueTest, ARooflineOfOtherCpusIsMeasuredAnew) {
  MeasureRooflines(true);
  for (const std::vector<int>& cpus :
       {std::vector<int>{2}, {2, 3}, {3, 2}, {4, 5}, {4, 5}, {4, 5, 6}}) {
    RestartWith(cpus, memory_limit_bytes_);
    WaitForEnd(Start("a"));
  }
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "roofline", "a", "roofline", "a",
                                           "roofline", "a", "a", "roofline", "a"));
  const auto stored = queue_->StoredRoofline();
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_THAT(stored->setup().cpus(), ElementsAre(4, 5, 6));
  EXPECT_EQ(stored->setup().memory_limit_bytes(), int64_t{1} << 30);
}

TEST_F(JobQueueTest, ARooflineWithoutDramIsMeasuredAnewOnceMoreMemoryIsAllowed) {
  MeasureRooflines(false);
  WaitForEnd(Start("a"));
  RestartWith(cpus_, int64_t{1} << 29);
  WaitForEnd(Start("b"));
  MeasureRooflines(true);
  RestartWith(cpus_, int64_t{1} << 31);
  WaitForEnd(Start("c"));
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "b", "roofline", "c"));
}

TEST_F(JobQueueTest, ARooflineWithDramHoldsWhateverMemoryIsAllowed) {
  MeasureRooflines(true);
  for (const int shift : {30, 20, 32}) {
    RestartWith(cpus_, int64_t{1} << shift);
    WaitForEnd(Start("a"));
  }
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "a", "a"));
}

TEST_F(JobQueueTest, AStoredRooflineThatDoesNotHoldSaysWhyAndWhatMendsIt) {
  MeasureRooflines(false);
  WaitForEnd(Start("a"));
  RestartWith({2}, int64_t{1} << 30);
  const auto other_cpus = queue_->StoredRoofline();
  ASSERT_FALSE(other_cpus.has_value());
  EXPECT_EQ(other_cpus.error().reason, "NO_ROOFLINE");
  EXPECT_THAT(other_cpus.error().message,
              AllOf(HasSubstr("CPUs 2,3"), HasSubstr("CPU 2"), HasSubstr("roofline --measure")));
  RestartWith({2, 3}, int64_t{2} << 30);
  const auto more_memory = queue_->StoredRoofline();
  ASSERT_FALSE(more_memory.has_value());
  EXPECT_THAT(more_memory.error().message,
              AllOf(HasSubstr("DRAM"), HasSubstr("1 GiB"), HasSubstr("roofline --measure")));
}

TEST_F(JobQueueTest, ARooflineOfAnEarlierVersionIsMeasuredAnew) {
  v1::Roofline earlier;
  earlier.set_clock_hz(1e9);
  ASSERT_TRUE(store_->rooflines().Put("host-1", earlier).has_value());
  WaitForEnd(Start("a"));
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a"));
}

TEST_F(JobQueueTest, RunGoesOnWithoutARoofline) {
  runner_.roofline = [](const auto&...) -> Result<worker::WorkerEvent> {
    return Fail(ErrorCode::kInternal, "WORKER_CRASHED", "the probe crashed");
  };
  const v1::Run run = WaitForEnd(Start("a"));
  EXPECT_EQ(run.state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_THAT(run.report().warnings(),
              ElementsAre(AllOf(HasSubstr("the probe crashed"), HasSubstr("roofline --measure"))));
}

TEST_F(JobQueueTest, RunsWaitInOrderAndPositionsMove) {
  HoldRuns();
  const std::string a = Start("a");
  WaitForPhase(a, "timing");
  const std::string b = Start("b");
  const std::string c = Start("c");
  EXPECT_EQ(queue_->Get(b)->queue_position(), 1);
  EXPECT_EQ(queue_->Get(c)->queue_position(), 2);
  EXPECT_EQ(queue_->depth(), 3u);
  const uint64_t version = queue_->Watch(c, 0, steady_clock::now())->version;
  ASSERT_TRUE(queue_->Cancel(b).has_value());
  const auto moved = queue_->Watch(c, version, steady_clock::now() + seconds(20));
  EXPECT_GT(moved->version, version);
  EXPECT_EQ(moved->run.queue_position(), 1);
  gate_.Open();
  EXPECT_EQ(WaitForEnd(c).queue_position(), 0);
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

TEST_F(JobQueueTest, ARunCarriesTheTrustTableOfItsHost) {
  EXPECT_FALSE(WaitForEnd(Start("before")).report().has_trust());
  ASSERT_TRUE(queue_->ProbeCounters().has_value());
  const v1::Run run = WaitForEnd(Start("after"));
  ASSERT_EQ(run.report().trust().rows_size(), 1);
  EXPECT_EQ(run.report().trust().rows(0).loop(), "known");
}

TEST_F(JobQueueTest, ARunKeepsTheTrustTableOfItsOwnPlan) {
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

TEST_F(JobQueueTest, ARunIsToldTheCountersThatWereFoundLast) {
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

TEST_F(JobQueueTest, ARunBeforeTheFirstCalibrationIsToldNothing) {
  HoldRuns();
  const std::string a = Start("a");
  WaitForPhase(a, "timing");
  auto counters = std::async(std::launch::async, [&] { return queue_->ProbeCounters(); });
  gate_.Open();
  EXPECT_TRUE(counters.get().has_value());
  EXPECT_FALSE(WaitForEnd(a).report().has_trust());
}

TEST_F(JobQueueTest, CountersOfAnotherHostOrAnEarlierDaemonAreNotTold) {
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

TEST_F(JobQueueTest, CountersThatCouldNotBeFoundAreNotTold) {
  NoteKnownCounters();
  runner_.counters = [](const auto&...) -> Result<worker::WorkerEvent> {
    return Fail(ErrorCode::kInternal, "WORKER_CRASHED", "it crashed");
  };
  EXPECT_EQ(queue_->ProbeCounters().error().reason, "WORKER_CRASHED");
  WaitForEnd(Start("a"));
  EXPECT_THAT(known_, ElementsAre("none"));
}

TEST_F(JobQueueTest, ExclusiveTasksGiveTheirResults) {
  EXPECT_EQ(queue_->MeasureRoofline()->clock_hz(), 3e9);
  EXPECT_EQ(queue_->StoredRoofline()->clock_hz(), 3e9);
  EXPECT_EQ(queue_->ProbeCounters()->pmu(), "fake");
  worker::VerifyTask task;
  task.mutable_spec()->mutable_model()->set_text("mlp");
  EXPECT_TRUE(queue_->Verify(task)->ok());
  task.mutable_spec()->set_rtol(-1);
  EXPECT_EQ(queue_->Verify(task).error().reason, "BAD_TOLERANCE");
  task.mutable_spec()->clear_rtol();
  task.mutable_spec()->mutable_model()->set_text("large");
  EXPECT_EQ(queue_->Verify(task).error().reason, "MODEL_TOO_LARGE");
}

TEST_F(JobQueueTest, ExclusiveTaskWaitsItsTurn) {
  HoldRuns();
  WaitForPhase(Start("a"), "timing");
  auto counters = std::async(std::launch::async, [&] { return queue_->ProbeCounters(); });
  while (queue_->depth() < 2) std::this_thread::yield();
  const std::string b = Start("b");
  EXPECT_EQ(queue_->Get(b)->queue_position(), 2);
  gate_.Open();
  EXPECT_TRUE(counters.get().has_value());
  WaitForEnd(b);
  EXPECT_THAT(runner_.order(), ElementsAre("roofline", "a", "counters", "b"));
}

TEST_F(JobQueueTest, AbandonedTaskLeavesTheQueue) {
  HoldRuns();
  WaitForPhase(Start("a"), "timing");
  const auto counters = queue_->ProbeCounters([] { return true; });
  EXPECT_EQ(counters.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(queue_->depth(), 1u);
}

TEST_F(JobQueueTest, AbandonedTaskThatIsMeasuredStops) {
  runner_.roofline = [this](const WorkerTask&, const ProgressFn&,
                            const std::stop_token& stop) -> Result<worker::WorkerEvent> {
    gate_.Pass(stop);
    return Fail(ErrorCode::kCancelled, "CANCELLED", "stopped");
  };
  EXPECT_EQ(queue_->MeasureRoofline([] { return true; }).error().reason, "CANCELLED");
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
