// Each thread counts its own work, whatever the others do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "daemon/counters/papi/papi_backend.h"
#include "tests/guest/spin.h"
#include "tests/guest/thread_work.h"

namespace tinyprof {
namespace {

TEST(Threads, EachCountsItsOwnWorkExactly) {
  ExpectEachThreadCountsItsOwnWork(*MakePapiBackend(kWorkers));
}

TEST(Threads, OneThatWaitsCountsNothingOfTheOthers) {
  const auto papi = MakePapiBackend(2);
  ASSERT_TRUE(papi->AttachThread(0).has_value());
  const std::vector<std::string> events = {"INST_RETIRED"};
  ASSERT_TRUE(papi->OpenGroup(0, events).has_value());
  ASSERT_TRUE(papi->Start(0).has_value());
  std::array<int64_t, 2> reads{};
  ASSERT_TRUE(papi->Read(0, {&reads[0], 1}).has_value());
  std::jthread([] { Spin(10 * kTurns); }).join();
  ASSERT_TRUE(papi->Read(0, {&reads[1], 1}).has_value());
  papi->CloseGroup(0);
  // Making and joining a thread takes some thousand instructions, the loop 8 million.
  EXPECT_LT(reads[1] - reads[0], kTurns);
}

}  // namespace
}  // namespace tinyprof
