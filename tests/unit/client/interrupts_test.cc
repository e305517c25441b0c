// The first signal, its echo and the second.
#include "client/lib/interrupts.h"

#include <gtest/gtest.h>

namespace tinyprof::client {
namespace {

using std::chrono::milliseconds;

class InterruptsTest : public testing::Test {
 protected:
  Interrupts::Clock::time_point now_{};
  int left_ = 0;
  int cancelled_ = 0;
  Interrupts interrupts_{[this] { ++left_; }, [this] { return now_; }};
};

TEST_F(InterruptsTest, WithNobodyArmedTheProcessLeavesAtOnce) {
  interrupts_.Trigger();
  EXPECT_EQ(left_, 1);
}

TEST_F(InterruptsTest, AnEchoOfTheFirstSignalIsNotTheSecond) {
  const Interrupts::Armed armed(interrupts_, [this] { ++cancelled_; });
  interrupts_.Trigger();
  interrupts_.Trigger();
  now_ += milliseconds(499);
  interrupts_.Trigger();
  EXPECT_EQ(cancelled_, 1);
  EXPECT_EQ(left_, 0);
  now_ += milliseconds(1);
  interrupts_.Trigger();
  EXPECT_EQ(cancelled_, 1);
  EXPECT_EQ(left_, 1);
}

TEST_F(InterruptsTest, AnEchoAfterTheRunHasEndedIsNoneEither) {
  {
    const Interrupts::Armed armed(interrupts_, [this] { ++cancelled_; });
    interrupts_.Trigger();
  }
  interrupts_.Trigger();
  EXPECT_EQ(left_, 0);
  now_ += milliseconds(500);
  interrupts_.Trigger();
  EXPECT_EQ(left_, 1);
}

}  // namespace
}  // namespace tinyprof::client
