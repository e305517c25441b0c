#include "daemon/worker/worker_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "daemon/worker/unique_fd.h"

namespace tinyprof {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::ptrdiff_t OpenDescriptorCount() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

// Checks after each test that neither a child nor a descriptor is left.
class WorkerProcessTest : public ::testing::Test {
 protected:
  void SetUp() override { descriptors_before_ = OpenDescriptorCount(); }
  void TearDown() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(OpenDescriptorCount(), descriptors_before_);
  }

  Result<worker::WorkerEvent> Run(const std::string& action,
                                  milliseconds time = milliseconds(30'000)) {
    WorkerTask task;
    task.request.mutable_profile()->mutable_model()->set_text(action);
    task.request.set_memory_limit_bytes(int64_t{1} << 30);
    task.model_fd = model_fd_;
    task.deadline = std::chrono::steady_clock::now() + time;
    WorkerProcess process({.worker_path = FAKE_WORKER_PATH, .stop_grace = milliseconds(200)});
    const auto on_progress = [&](const v1::Progress& progress) {
      progress_.push_back(progress.done());
      if (cancel_on_progress_) cancel_.request_stop();
    };
    return process.Run(task, on_progress, cancel_.get_token());
  }

  std::stop_source cancel_;
  bool cancel_on_progress_ = false;
  int model_fd_ = -1;
  std::vector<int> progress_;

 private:
  std::ptrdiff_t descriptors_before_ = 0;
};

TEST_F(WorkerProcessTest, GivesProgressAndResult) {
  const auto event = Run("succeed");
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->report().isa(), "avx2");
  EXPECT_THAT(progress_, ElementsAre(1, 2));
}

TEST_F(WorkerProcessTest, CrashNamesSignalAndLayer) {
  const auto event = Run("segfault");
  ASSERT_FALSE(event.has_value());
  EXPECT_EQ(event.error().reason, "WORKER_CRASHED");
  EXPECT_EQ(event.error().metadata.at("signal"), "SIGSEGV");
  EXPECT_EQ(event.error().metadata.at("layer"), "conv1");
}

TEST_F(WorkerProcessTest, CrashAfterTheFirstPassBlamesNoLayer) {
  const auto event = Run("segfault after layers");
  EXPECT_EQ(event.error().reason, "WORKER_CRASHED");
  EXPECT_EQ(event.error().metadata.count("layer"), 0u);
}

TEST_F(WorkerProcessTest, KillIsToldFromCrash) {
  EXPECT_EQ(Run("sigkill").error().reason, "WORKER_KILLED");
}

// Half of the worker's limit, which the kernel gives the worker as its own peak.
TEST_F(WorkerProcessTest, WhatTheDaemonHasHeldIsNotTheWorkersMemory) {
  const std::vector<char> memory(600 << 20, 1);
  ASSERT_EQ(memory.back(), 1);
  EXPECT_EQ(Run("sigkill").error().reason, "WORKER_KILLED");
}

TEST_F(WorkerProcessTest, ExitCodeComesWithStderr) {
  const auto event = Run("exit 3");
  EXPECT_EQ(event.error().metadata.at("exit_code"), "3");
  EXPECT_THAT(event.error().message, HasSubstr("no more threads"));
}

TEST_F(WorkerProcessTest, ExitWithoutResult) {
  EXPECT_EQ(Run("silent exit").error().reason, "WORKER_PROTOCOL");
}

TEST_F(WorkerProcessTest, DeadlineEndsAWorkerThatHangs) {
  const auto event = Run("hang", milliseconds(300));
  EXPECT_EQ(event.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(event.error().reason, "TIMEOUT");
  EXPECT_EQ(event.error().metadata.at("layer"), "conv2");
}

TEST_F(WorkerProcessTest, CancelEndsAWorkerThatHangs) {
  cancel_on_progress_ = true;
  const auto event = Run("hang");
  EXPECT_EQ(event.error().code, ErrorCode::kCancelled);
}

TEST_F(WorkerProcessTest, CancelEndsAWorkerThatIgnoresSigterm) {
  cancel_on_progress_ = true;
  EXPECT_EQ(Run("hang and ignore SIGTERM").error().reason, "CANCELLED");
}

TEST_F(WorkerProcessTest, CancelFromAnotherThreadWakesUp) {
  std::jthread canceller([&] {
    std::this_thread::sleep_for(milliseconds(50));
    cancel_.request_stop();
  });
  EXPECT_EQ(Run("hang").error().reason, "CANCELLED");
}

TEST_F(WorkerProcessTest, CancelBeforeTheStart) {
  cancel_.request_stop();
  EXPECT_EQ(Run("hang").error().reason, "CANCELLED");
}

TEST_F(WorkerProcessTest, ClosedSocketOfALivingWorker) {
  EXPECT_EQ(Run("close socket and hang").error().reason, "WORKER_PROTOCOL");
}

TEST_F(WorkerProcessTest, ResultCountsEvenIfTheWorkerDoesNotExit) {
  const auto event = Run("report and hang");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->report().isa(), "avx2");
}

TEST_F(WorkerProcessTest, BytesThatAreNoFrame) {
  EXPECT_EQ(Run("garbage").error().reason, "WORKER_PROTOCOL");
  EXPECT_EQ(Run("empty event").error().reason, "WORKER_PROTOCOL");
}

TEST_F(WorkerProcessTest, ErrorOfTheWorkerIsPassedOn) {
  const Error error = Run("error").error();
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(error.reason, "SOME_REASON");
  EXPECT_EQ(error.message, "a sentence");
  EXPECT_EQ(error.metadata.at("key"), "value");
}

TEST_F(WorkerProcessTest, ChatterOnStderrBlocksNothingAndIsBounded) {
  const auto event = Run("chatter");
  EXPECT_EQ(event.error().metadata.at("exit_code"), "4");
  EXPECT_LE(event.error().metadata.at("stderr").size(), 4096u);
  EXPECT_THAT(event.error().message, HasSubstr("the end"));
}

TEST_F(WorkerProcessTest, WorkerInheritsNoOtherDescriptor) {
  const UniqueFd secret(::open("/dev/null", O_RDONLY));  // without CLOEXEC
  ASSERT_TRUE(secret.valid());
  EXPECT_EQ(Run("descriptors")->report().isa(), "0 1 2 3 ");
}

TEST_F(WorkerProcessTest, ModelIsOpenInTheWorker) {
  EXPECT_EQ(Run("model")->report().isa(), "none");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ASSERT_EQ(::write(write_end.get(), "weights", 7), 7);
  write_end.Close();
  model_fd_ = read_end.get();
  EXPECT_EQ(Run("model")->report().isa(), "weights");
}

TEST(WorkerProcessPathTest, MissingProgramIsAnError) {
  WorkerProcess process({.worker_path = "/no/such/program"});
  const auto event = process.Run({}, {}, {});
  EXPECT_EQ(event.error().reason, "NO_WORKER");
  EXPECT_EQ(event.error().metadata.at("path"), "/no/such/program");
}

}  // namespace
}  // namespace tinyprof
