// What runs out: counters, and open files. QEMU's N1 has six counters for any event and one for
// cycles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/try_group.h"

namespace tinyprof {
namespace {

using ::testing::AnyOf;

const std::vector<std::string> kSixEvents = {"INST_RETIRED",   "L1D_CACHE_REFILL",
                                             "BR_MIS_PRED",    "L1D_TLB_REFILL",
                                             "L1I_TLB_REFILL", "L1I_CACHE_REFILL"};

std::vector<std::string> With(std::vector<std::string> events, const std::string& another) {
  events.push_back(another);
  return events;
}

// The kernel refuses at opening or only when it schedules the group; PAPI has a code for each.
void ExpectNoCounterFree(CounterBackend& backend, const std::vector<std::string>& events) {
  const Status refused = TryGroup(backend, events);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().reason, AnyOf("GROUP_FULL", "COUNTER_BUSY"))
      << ReasonOf(refused.error());
}

std::string Outcome(const Status& status) {
  return status.has_value() ? "ok" : ReasonOf(status.error());
}

size_t OpenFiles() {
  using std::filesystem::directory_iterator;
  return static_cast<size_t>(
      std::distance(directory_iterator("/proc/self/fd"), directory_iterator()));
}

// Lowers the limit of open files so that `more` can still be opened.
class FewerFiles {
 public:
  explicit FewerFiles(size_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    // OpenFiles counts its own directory too, which is closed again.
    const rlimit lower{.rlim_cur = OpenFiles() - 1 + more, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  }
  ~FewerFiles() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  FewerFiles(const FewerFiles&) = delete;
  FewerFiles& operator=(const FewerFiles&) = delete;

 private:
  rlimit before_{};
};

TEST(Exhaustion, SevenEventsFitAndTheEighthIsRefused) {
  const auto papi = MakePapiBackend(1);
  const std::vector<std::string> seven = With(kSixEvents, "CPU_CYCLES");
  EXPECT_EQ(Outcome(TryGroup(*papi, seven)), "ok");
  ExpectNoCounterFree(*papi, With(seven, "BUS_ACCESS"));
  // A refusal leaves nothing behind that holds a counter.
  EXPECT_EQ(Outcome(TryGroup(*papi, seven)), "ok");
}

TEST(Exhaustion, TheCycleCounterCountsNothingElse) {
  const auto papi = MakePapiBackend(1);
  EXPECT_EQ(Outcome(TryGroup(*papi, kSixEvents)), "ok");
  ExpectNoCounterFree(*papi, With(kSixEvents, "BUS_ACCESS"));
}

TEST(Exhaustion, ARefusedGroupClosesItsFiles) {
  const auto papi = MakePapiBackend(1);
  ASSERT_EQ(Outcome(TryGroup(*papi, kSixEvents)), "ok");
  const size_t before = OpenFiles();
  ExpectNoCounterFree(*papi, With(kSixEvents, "BUS_ACCESS"));
  EXPECT_EQ(OpenFiles(), before);
}

TEST(Exhaustion, TheLimitOfOpenFilesIsNamed) {
  const auto papi = MakePapiBackend(1);
  const std::vector<std::string> events = {"INST_RETIRED", "CPU_CYCLES", "BR_MIS_PRED"};
  ASSERT_EQ(Outcome(TryGroup(*papi, events)), "ok");
  const size_t before = OpenFiles();
  for (const size_t more : {0, 1, 2}) {
    const FewerFiles fewer(more);
    const Status refused = TryGroup(*papi, events);
    ASSERT_FALSE(refused.has_value()) << more;
    EXPECT_EQ(refused.error().reason, "TOO_MANY_FILES") << ReasonOf(refused.error());
  }
  EXPECT_EQ(OpenFiles(), before);
  EXPECT_EQ(Outcome(TryGroup(*papi, events)), "ok");
}

}  // namespace
}  // namespace tinyprof
