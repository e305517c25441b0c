// A scripted worker and a model source without models, for tests of the queue.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/jobs/model_source.h"
#include "daemon/worker/task_runner.h"
#include "tests/unit/jobs/measured_roofline.h"

namespace tinyprof {

// Blocks whoever passes until it is opened.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // False when a stop was asked for first.
  bool Pass(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
};

// Gives an empty report or roofline at once, unless a script says otherwise.
class FakeRunner final : public TaskRunner {
 public:
  using Script = std::function<Result<worker::WorkerEvent>(const WorkerTask&, const ProgressFn&,
                                                           const std::stop_token&)>;

  Result<worker::WorkerEvent> Run(const WorkerTask& task, const ProgressFn& on_progress,
                                  std::stop_token cancel) override {
    Note(task.request);
    worker::WorkerEvent event;
    switch (task.request.task_case()) {
      case worker::WorkerRequest::kRoofline:
        if (roofline) return roofline(task, on_progress, cancel);
        *event.mutable_roofline() = MeasuredRoofline(3e9);
        return event;
      case worker::WorkerRequest::kCounters:
        if (counters) return counters(task, on_progress, cancel);
        event.mutable_counters()->set_pmu("fake");
        event.mutable_counters()->mutable_counters()->mutable_trust()->add_rows()->set_loop(
            "known");
        return event;
      case worker::WorkerRequest::kVerify:
        verify_cpu_count = task.request.cpus_size();
        event.mutable_verified()->set_ok(true);
        return event;
      case worker::WorkerRequest::kQuantize:
        if (quantize) return quantize(task, on_progress, cancel);
        event.mutable_quantized();
        return event;
      default:
        if (profile) return profile(task, on_progress, cancel);
        event.mutable_report()->set_isa("baseline");
        return event;
    }
  }

  // What was run, in order: "roofline", "counters", "verify", "quantize" or the text of the model.
  std::vector<std::string> order() const {
    const std::lock_guard lock(mutex_);
    return order_;
  }

  std::atomic<int> verify_cpu_count = 0;  // of the last verify task
  Script profile;
  Script roofline;
  Script counters;
  Script quantize;

 private:
  void Note(const worker::WorkerRequest& request) {
    const std::lock_guard lock(mutex_);
    if (request.has_roofline()) {
      order_.push_back("roofline");
    } else if (request.has_counters()) {
      order_.push_back("counters");
    } else if (request.has_verify()) {
      order_.push_back("verify");
    } else if (request.has_quantize()) {
      order_.push_back("quantize");
    } else {
      order_.push_back(request.profile().model().text());
    }
  }

  mutable std::mutex mutex_;
  std::vector<std::string> order_;
};

// Knows every model but "unknown"; "large" needs 2^40 bytes.
class FakeModels final : public ModelSource {
 public:
  Result<v1::ModelAnalysis> Analyze(const v1::ModelSpec& spec) override {
    if (spec.text() == "unknown") {
      return Fail(ErrorCode::kNotFound, "UNKNOWN_MODEL", "there is no such model");
    }
    if (spec.text() == "shaped by data") {
      return Fail(ErrorCode::kUnimplemented, "SHAPE_NOT_KNOWN", "only the run knows this shape");
    }
    v1::ModelAnalysis analysis;
    if (spec.text() == "large") analysis.set_parameter_bytes(int64_t{1} << 40);
    return analysis;
  }
  Result<std::optional<UniqueFd>> OpenFile(const v1::ModelSpec& /*spec*/) override {
    return std::nullopt;
  }
};

}  // namespace tinyprof
