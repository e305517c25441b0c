#include "daemon/counters/counter_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "daemon/counters/papi/papi_errors.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ExplainErrno, EveryErrnoOfPerfEventOpenHasItsReason) {
  const std::map<int, std::string> wanted = {
      {ENOENT, "NO_PMU"},         {ENODEV, "NO_PMU"},           {ENXIO, "NO_PMU"},
      {EOPNOTSUPP, "NO_PMU"},     {EACCES, "PERMISSION"},       {EPERM, "PERMISSION"},
      {ENOSYS, "NO_PERF_EVENTS"}, {EBUSY, "COUNTER_BUSY"},      {EMFILE, "TOO_MANY_FILES"},
      {ENFILE, "TOO_MANY_FILES"}, {EINVAL, "EVENT_NOT_ON_CPU"},
  };
  EXPECT_EQ(ErrnoTable().size(), wanted.size());
  for (const auto& [error_number, reason] : wanted) {
    const Refusal refusal = ExplainErrno(error_number, {});
    EXPECT_EQ(refusal.reason, reason) << error_number;
    EXPECT_THAT(refusal.sentence, Not(IsEmpty())) << error_number;
  }
}

TEST(ExplainErrno, NoPmuIsSaidInTheWordsOfTheContract) {
  EXPECT_EQ(ExplainErrno(ENOENT, {}).ToString(),
            "NO_PMU: the kernel exposes no hardware PMU (virtual machine)");
}

TEST(ExplainErrno, ParanoidIsTheCauseOfARefusalFromLevelThree) {
  for (const int error_number : {EACCES, EPERM}) {
    const Refusal refusal = ExplainErrno(error_number, {.perf_event_paranoid = 3});
    EXPECT_EQ(refusal.reason, "PARANOID");
    EXPECT_THAT(refusal.sentence, HasSubstr("kernel.perf_event_paranoid is 3"));
    EXPECT_EQ(refusal.fix, "sudo sysctl kernel.perf_event_paranoid=2");
    EXPECT_EQ(ExplainErrno(error_number, {.perf_event_paranoid = 2}).reason, "PERMISSION");
  }
}

TEST(ExplainErrno, ASeccompFilterAnswersEperm) {
  const RefusalContext filtered{.perf_event_paranoid = 2, .seccomp_mode = 2};
  EXPECT_EQ(ExplainErrno(EPERM, filtered).reason, "SECCOMP");
  EXPECT_THAT(ExplainErrno(EPERM, filtered).fix, HasSubstr("--cap-add PERFMON"));
  EXPECT_EQ(ExplainErrno(EACCES, filtered).reason, "PERMISSION");
}

TEST(ExplainErrno, AnUnknownErrnoIsNamed) {
  EXPECT_THAT(ExplainErrno(EFAULT, {}).ToString(), HasSubstr("COUNTER_ERROR: "));
  EXPECT_THAT(ExplainErrno(EFAULT, {}).sentence, HasSubstr("Bad address"));
}

struct PapiCase {
  int papi_code;
  int hardware_errno;
  const char* reason;
};

class PapiErrorTest : public ::testing::TestWithParam<PapiCase> {};

TEST_P(PapiErrorTest, HasItsReason) {
  const PapiCase& c = GetParam();
  const Error error =
      PapiError(c.papi_code, "RETIRED_INSTRUCTIONS", {.hardware_event_errno = c.hardware_errno});
  EXPECT_EQ(error.reason, c.reason);
  EXPECT_THAT(error.message, Not(IsEmpty()));
  EXPECT_EQ(error.metadata.at("event"), "RETIRED_INSTRUCTIONS");
}

// PAPI's codes by number, so that a change of its header is seen too.
INSTANTIATE_TEST_SUITE_P(
    Codes, PapiErrorTest,
    ::testing::Values(PapiCase{-7, ENOENT, "NO_PMU"}, PapiCase{-7, 0, "EVENT_NOT_ON_CPU"},
                      PapiCase{-18, 0, "EVENT_UNKNOWN"}, PapiCase{-18, ENOENT, "NO_PMU"},
                      PapiCase{-12, 0, "EVENT_UNKNOWN"}, PapiCase{-15, 0, "PERMISSION"},
                      PapiCase{-15, EACCES, "PERMISSION"}, PapiCase{-25, 0, "PAPI_DISABLED"},
                      PapiCase{-4, 0, "PAPI_DISABLED"}, PapiCase{-1, 0, "GROUP_FULL"},
                      PapiCase{-8, 0, "COUNTER_BUSY"}, PapiCase{-23, 0, "TOO_MANY_FILES"},
                      PapiCase{-3, 0, "COUNTERS_LOST"}, PapiCase{-5, 0, "COUNTERS_LOST"},
                      PapiCase{-10, 0, "COUNTER_ERROR"}, PapiCase{-99, 0, "COUNTER_ERROR"}));

TEST(PapiError, ASoftwareEventIsNotBlamedOnTheMissingPmu) {
  EXPECT_EQ(PapiError(-7, "perf::PAGE-FAULTS", {.hardware_event_errno = ENOENT}).reason,
            "EVENT_NOT_ON_CPU");
  EXPECT_EQ(PapiError(-15, "perf::CONTEXT-SWITCHES:k=1", {.hardware_event_errno = ENOENT}).reason,
            "PERMISSION");
}

}  // namespace
}  // namespace tinyprof
