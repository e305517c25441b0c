#include "daemon/jobs/model_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <thread>

namespace tinyprof {
namespace {

class ScriptedRunner final : public TaskRunner {
 public:
  std::function<Result<worker::WorkerEvent>(const WorkerTask&, const std::stop_token&)> script;

  Result<worker::WorkerEvent> Run(const WorkerTask& task, const ProgressFn& /*on_progress*/,
                                  std::stop_token cancel) override {
    return script(task, cancel);
  }
};

Result<worker::WorkerEvent> Analysis(int64_t parameter_count) {
  worker::WorkerEvent event;
  event.mutable_analysis()->set_parameter_count(parameter_count);
  return event;
}

// Until the stop is asked for, as a worker that reads a large file.
Result<worker::WorkerEvent> WaitForStop(const std::stop_token& cancel) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, cancel, [] { return false; });
  return Fail(ErrorCode::kCancelled, "CANCELLED", "the task was cancelled");
}

class ModelReaderTest : public ::testing::Test {
 protected:
  ScriptedRunner runner_;
  ModelReader reader_{runner_, 1 << 20};
};

TEST_F(ModelReaderTest, GivesTheWorkerTheFileTheSpecAndTheLimit) {
  WorkerTask seen;
  runner_.script = [&](const WorkerTask& task, const std::stop_token&) {
    seen = task;
    return Analysis(7);
  };
  v1::ModelSpec spec;
  spec.set_text("mine");
  const auto analysis = reader_.Analyze(spec, 5);
  ASSERT_TRUE(analysis.has_value());
  EXPECT_EQ(analysis->parameter_count(), 7);
  EXPECT_EQ(seen.model_fd, 5);
  EXPECT_TRUE(seen.request.has_model_file());
  EXPECT_EQ(seen.request.memory_limit_bytes(), 1 << 20);
  EXPECT_EQ(seen.request.analyze().model().text(), "mine");
  EXPECT_EQ(seen.request.cpus_size(), 0) << "reading keeps off the CPUs that measure";
  EXPECT_LT(seen.deadline, std::chrono::steady_clock::time_point::max());
  ASSERT_TRUE(reader_.Check(6).has_value());
  EXPECT_FALSE(seen.request.analyze().has_model());
}

TEST_F(ModelReaderTest, SaysWhatTheWorkerSaid) {
  runner_.script = [](const WorkerTask&, const std::stop_token&) -> Result<worker::WorkerEvent> {
    return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX", "byte 17 is wrong");
  };
  EXPECT_EQ(reader_.Check(3).error().reason, "BAD_ONNX");
  EXPECT_EQ(reader_.Analyze({}, 3).error().message, "byte 17 is wrong");
}

TEST_F(ModelReaderTest, AnotherResultBreaksTheProtocol) {
  runner_.script = [](const WorkerTask&, const std::stop_token&) -> Result<worker::WorkerEvent> {
    worker::WorkerEvent event;
    event.mutable_report();
    return event;
  };
  EXPECT_EQ(reader_.Check(3).error().reason, "WORKER_PROTOCOL");
}

TEST_F(ModelReaderTest, StopEndsWhatIsBeingReadAndRefusesTheRest) {
  std::atomic<bool> reading = false;
  runner_.script = [&](const WorkerTask&, const std::stop_token& cancel) {
    reading = true;
    return WaitForStop(cancel);
  };
  std::string reason;
  std::jthread caller([&] { reason = reader_.Check(3).error().reason; });
  while (!reading) std::this_thread::yield();
  reader_.Stop();
  caller.join();
  EXPECT_EQ(reason, "DRAINING");
  EXPECT_EQ(reader_.Analyze({}, 3).error().reason, "DRAINING");
}

TEST_F(ModelReaderTest, ReadsOneFileAtATime) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  runner_.script = [&](const WorkerTask&, const std::stop_token&) {
    most = std::max(most.load(), ++inside);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --inside;
    return Analysis(1);
  };
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) callers.emplace_back([&] { (void)reader_.Check(3); });
  }
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace tinyprof
