#include "daemon/worker/worker_exit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <utility>

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Linux keeps the signal in the low seven bits and the exit code in the next byte.
constexpr int KilledBy(int signal_number) { return signal_number; }
constexpr int ExitedWith(int code) { return code << 8; }
constexpr int64_t kMebi = 1 << 20;

TEST(ExplainExitTest, SmallWorkerThatWasKilledWasKilledByAPerson) {
  const Error error = ExplainExit({.wait_status = KilledBy(SIGKILL),
                                   .max_resident_bytes = 10 * kMebi,
                                   .memory_limit_bytes = 100 * kMebi});
  EXPECT_EQ(error.code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(error.reason, "WORKER_KILLED");
}

TEST(ExplainExitTest, WorkerThatWasAskedToEndDidNotCrash) {
  for (const auto& [signal, name] : {std::pair(SIGTERM, "SIGTERM"), std::pair(SIGINT, "SIGINT")}) {
    const Error error = ExplainExit({.wait_status = KilledBy(signal), .layer = "conv1"});
    EXPECT_EQ(error.code, ErrorCode::kResourceExhausted);
    EXPECT_EQ(error.reason, "WORKER_KILLED");
    EXPECT_THAT(error.message, HasSubstr(name));
    EXPECT_THAT(error.message, HasSubstr("conv1"));
    EXPECT_EQ(error.message.find("crash"), std::string::npos);
  }
}

TEST(ExplainExitTest, LargeWorkerThatWasKilledRanOutOfMemory) {
  const Error error = ExplainExit({.wait_status = KilledBy(SIGKILL),
                                   .max_resident_bytes = 60 * kMebi,
                                   .memory_limit_bytes = 100 * kMebi,
                                   .layer = "conv1"});
  EXPECT_EQ(error.reason, "OUT_OF_MEMORY");
  EXPECT_THAT(error.message, HasSubstr("conv1"));
}

TEST(ExplainExitTest, CrashNamesSignalAndLayer) {
  const Error error = ExplainExit({.wait_status = KilledBy(SIGSEGV), .layer = "layer1.0.conv1"});
  EXPECT_EQ(error.code, ErrorCode::kInternal);
  EXPECT_EQ(error.reason, "WORKER_CRASHED");
  EXPECT_EQ(error.metadata.at("signal"), "SIGSEGV");
  EXPECT_EQ(error.metadata.at("layer"), "layer1.0.conv1");
  EXPECT_THAT(error.message, HasSubstr("SIGSEGV in layer layer1.0.conv1"));
}

// The worker's own filter answers EPERM and ends nobody.
TEST(ExplainExitTest, AFilterFromOutsideIsNamed) {
  const Error error = ExplainExit({.wait_status = KilledBy(SIGSYS)});
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(error.reason, "SECCOMP");
  EXPECT_EQ(error.metadata.at("signal"), "SIGSYS");
  EXPECT_THAT(error.message, HasSubstr("seccomp"));
  EXPECT_THAT(error.message, Not(HasSubstr("model")));
}

TEST(ExplainExitTest, ACrashWithoutALayerBlamesNoModel) {
  EXPECT_THAT(ExplainExit({.wait_status = KilledBy(SIGABRT)}).message, Not(HasSubstr("model")));
}

TEST(ExplainExitTest, ExitCodeComesWithTheLastLineOfStderr) {
  const Error error =
      ExplainExit({.wait_status = ExitedWith(3), .stderr_tail = "first\nno memory\n\n"});
  EXPECT_EQ(error.reason, "WORKER_CRASHED");
  EXPECT_EQ(error.metadata.at("exit_code"), "3");
  EXPECT_THAT(error.message, HasSubstr("(it wrote: no memory)"));
  EXPECT_EQ(error.metadata.count("layer"), 0u);
}

TEST(ExplainExitTest, OrderlyExitWithoutAResultBreaksTheProtocol) {
  EXPECT_EQ(ExplainExit({.wait_status = ExitedWith(0)}).reason, "WORKER_PROTOCOL");
}

}  // namespace
}  // namespace tinyprof
