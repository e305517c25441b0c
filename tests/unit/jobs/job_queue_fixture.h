// A queue with a scripted worker, on a store of its own.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "daemon/jobs/job_queue.h"
#include "daemon/jobs/run_state.h"
#include "tests/unit/jobs/fakes.h"
#include "tests/unit/store/temporary_directory.h"

namespace tinyprof {

inline v1::RunSpec SpecOf(const std::string& model) {
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
    queue_ = std::make_unique<JobQueue>(
        JobQueueOptions{.measurement_cpus = cpus_,
                        .max_waiting_jobs = max_waiting_jobs,
                        .memory_limit_bytes = memory_limit_bytes_,
                        .max_run_timeout = std::chrono::seconds(60)},
        JobQueueDependencies{.store = store_.get(),
                             .runner = &runner_,
                             .models = &models_,
                             .host =
                                 [this] {
                                   v1::Host host;
                                   host.set_fingerprint(
                                       fmt::format("host-{}", host_number_.load()));
                                   return host;
                                 },
                             .on_run_changed = {},
                             .on_calibrated =
                                 [this](const auto& found) {
                                   calibrated_.push_back(found.counters().trust().rows(0).loop());
                                 }});
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
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (true) {
      const auto snapshot = queue_->Watch(id, version, deadline);
      if (!snapshot.has_value() || std::chrono::steady_clock::now() >= deadline) {
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
      v1::Roofline& roofline = *event.mutable_roofline() = MeasuredRoofline(3e9);
      for (const int threads : {1, 2}) {
        AddBandwidth(roofline, "L1", threads);
        if (with_dram) AddBandwidth(roofline, "DRAM", threads);
      }
      return event;
    };
  }

  std::vector<int> cpus_ = {2, 3};
  int64_t memory_limit_bytes_ = int64_t{1} << 30;
  std::atomic<int> host_number_ = 1;
  std::vector<std::string> known_;       // written by the executor; read it when no run goes on
  std::vector<std::string> calibrated_;  // what on_calibrated was told, in the same way
  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  FakeRunner runner_;
  FakeModels models_;
  Gate gate_;
  std::unique_ptr<JobQueue> queue_;  // last: it uses all of the above until it is destroyed
};

}  // namespace tinyprof
