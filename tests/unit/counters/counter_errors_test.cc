#include "daemon/counters/counter_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <vector>

#include "daemon/counters/papi/papi_errors.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ExplainErrno, EveryErrnoOfPerfEventOpenHasItsReason) {
  const std::map<int, std::string> wanted = {
      {ENOENT, "NO_PMU"},           {ENODEV, "NO_PMU"},         {ENXIO, "NO_PMU"},
      {EOPNOTSUPP, "NO_PMU"},       {EACCES, "PERMISSION"},     {EPERM, "PERMISSION"},
      {ENOSYS, "NO_PERF_EVENTS"},   {EBUSY, "COUNTER_BUSY"},    {EAGAIN, "COUNTER_BUSY"},
      {EMFILE, "TOO_MANY_FILES"},   {ENFILE, "TOO_MANY_FILES"}, {ESRCH, "THREAD_GONE"},
      {EINVAL, "EVENT_NOT_ON_CPU"},
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
    for (const int level : {3, 4}) {
      const Refusal refusal = ExplainErrno(error_number, {.perf_event_paranoid = level});
      EXPECT_EQ(refusal.reason, "PARANOID");
      EXPECT_THAT(refusal.sentence,
                  HasSubstr("kernel.perf_event_paranoid is " + std::to_string(level)));
      EXPECT_EQ(refusal.fix, "sudo sysctl kernel.perf_event_paranoid=2");
    }
    EXPECT_EQ(ExplainErrno(error_number, {.perf_event_paranoid = 2}).reason, "PERMISSION");
  }
}

TEST(ExplainErrno, AtLevelTwoWhatIsRefusedCountsTheKernel) {
  EXPECT_EQ(ExplainErrno(EACCES, {.perf_event_paranoid = 2}).fix,
            "sudo sysctl kernel.perf_event_paranoid=1");
}

TEST(ExplainErrno, WhoAsksIsPartOfARefusal) {
  const Refusal refusal = ExplainErrno(EACCES, {.perf_event_paranoid = 3,
                                                .seccomp_mode = 0,
                                                .effective_uid = 1000,
                                                .effective_capabilities = 0x20});
  EXPECT_THAT(refusal.sentence,
              HasSubstr("perf_event_paranoid 3, uid 1000, CapEff 0000000000000020, seccomp 0"));
}

TEST(ExplainErrno, ASeccompFilterAnswersEpermWhateverTheLevel) {
  for (const int level : {2, 3}) {
    const RefusalContext filtered{
        .perf_event_paranoid = level, .seccomp_mode = 2, .container = "docker"};
    EXPECT_EQ(ExplainErrno(EPERM, filtered).reason, "SECCOMP");
    EXPECT_THAT(ExplainErrno(EPERM, filtered).fix, HasSubstr("--cap-add PERFMON"));
  }
  EXPECT_EQ(ExplainErrno(EACCES, {.perf_event_paranoid = 2, .seccomp_mode = 2}).reason,
            "PERMISSION");
}

TEST(ExplainErrno, RootThatIsRefusedIsStoppedByASecurityModule) {
  // CAP_SYS_ADMIN is bit 21.
  const Refusal refusal =
      ExplainErrno(EACCES, {.perf_event_paranoid = 3, .effective_capabilities = 0x200000});
  EXPECT_EQ(refusal.reason, "PERMISSION");
  EXPECT_THAT(refusal.sentence, HasSubstr("security module"));
  EXPECT_THAT(refusal.sentence, HasSubstr("lockdown"));
  EXPECT_THAT(refusal.fix, IsEmpty());
}

TEST(ExplainErrno, AnUnknownErrnoIsNamed) {
  EXPECT_THAT(ExplainErrno(EFAULT, {}).ToString(), HasSubstr("COUNTER_ERROR: "));
  EXPECT_THAT(ExplainErrno(EFAULT, {}).sentence, HasSubstr("Bad address"));
}

TEST(ExplainEventErrno, AGroupThatDoesNotFitIsToldFromABadEvent) {
  const auto explain = [](Alone alone) {
    return ExplainEventErrno(EINVAL, {.name = "X", .group_size = 5, .alone = alone}, {});
  };
  EXPECT_EQ(explain(Alone::kCounts).reason, "GROUP_FULL");
  EXPECT_THAT(explain(Alone::kCounts).sentence, HasSubstr("X beside 4 others"));
  EXPECT_EQ(explain(Alone::kRefused).reason, "EVENT_NOT_ON_CPU");
  EXPECT_THAT(explain(Alone::kRefused).sentence, HasSubstr("not even by itself"));
  EXPECT_EQ(explain(Alone::kNotTried).reason, "EVENT_NOT_ON_CPU");
}

TEST(ExplainEventErrno, TheNumbersOfOpenFilesAreGiven) {
  const Refusal refusal = ExplainEventErrno(EMFILE, {.name = "X", .group_size = 6},
                                            {.open_files_limit = 64, .threads = 16});
  EXPECT_EQ(refusal.reason, "TOO_MANY_FILES");
  EXPECT_THAT(refusal.sentence, HasSubstr("limit of open files is 64"));
  EXPECT_THAT(refusal.sentence, HasSubstr("16 threads x 6 events need 96"));
  EXPECT_EQ(refusal.fix, "ulimit -n 352");  // 96 and 256 for the rest of the process
}

TEST(ExplainStarvedGroup, TheHolderIsNamedOrLookedFor) {
  const Refusal watchdog = ExplainStarvedGroup({.name = "X"}, {.nmi_watchdog = 1});
  EXPECT_EQ(watchdog.reason, "COUNTER_BUSY");
  EXPECT_THAT(watchdog.sentence, HasSubstr("watchdog is on"));
  EXPECT_EQ(watchdog.fix, "sudo sysctl kernel.nmi_watchdog=0");
  const Refusal other = ExplainStarvedGroup({.name = "X"}, {.nmi_watchdog = 0});
  EXPECT_THAT(other.sentence, HasSubstr("held by someone else; the NMI watchdog is off"));
  EXPECT_EQ(other.fix, kListPerfUsers);
  EXPECT_EQ(ExplainStarvedGroup({.name = "X", .group_size = 8, .alone = Alone::kCounts}, {}).reason,
            "GROUP_FULL");
}

// One row for each row of the table of errors: what the kernel answered, PAPI's code by number (so
// that a change of its header is seen, too), and what a person is told.
struct PapiRow {
  const char* name;
  int papi_code;
  PapiCall call;
  RefusedEvent event;
  RefusalContext context;
  const char* reason;
  ErrorCode code;
  const char* says;
};

constexpr const char* kEvent = "RETIRED_INSTRUCTIONS";
constexpr PapiCall kLookUp = PapiCall::kLookUp;
constexpr PapiCall kAdd = PapiCall::kAdd;
constexpr ErrorCode kPrecondition = ErrorCode::kFailedPrecondition;
constexpr ErrorCode kExhausted = ErrorCode::kResourceExhausted;

const RefusalContext kUser3 = {.hardware_event_errno = EACCES,
                               .perf_event_paranoid = 3,
                               .seccomp_mode = 0,
                               .effective_uid = 1000,
                               .effective_capabilities = 0};

std::vector<PapiRow> PapiRows() {
  const RefusedEvent event = {.name = kEvent};
  const RefusedEvent fifth_fits_alone = {kEvent, 5, Alone::kCounts};
  const RefusedEvent fifth_is_bad = {kEvent, 5, Alone::kRefused};
  const RefusalContext zen4 = {.pmu = "amd64_fam19h_zen4", .papi_version = "7.0.0.0"};
  const RefusalContext root3 = {
      .perf_event_paranoid = 3,
      .effective_uid = 0,
      .disabled_reason = "perf_event support disabled by Linux with paranoid=3"};
  const RefusalContext csv = {.perf_event_paranoid = 2,
                              .disabled_reason = "Error loading preset events"};
  const RefusalContext masked = {.disabled_reason = "perf_event support not detected"};
  return {
      {"EnoentNoPmu",
       -7,
       kAdd,
       event,
       {.hardware_event_errno = ENOENT},
       "NO_PMU",
       kPrecondition,
       "no hardware PMU"},
      {"EnoentOtherEventsCount", -7, kAdd, event, {}, "EVENT_NOT_ON_CPU", kPrecondition, kEvent},
      {"UnknownName", -18, kLookUp, event, zen4, "EVENT_UNKNOWN", kPrecondition,
       "libpfm4 of PAPI 7.0.0.0 knows no event RETIRED_INSTRUCTIONS for amd64_fam19h_zen4"},
      {"UnknownNameAlsoByEnoevnt", -7, kLookUp, event, zen4, "EVENT_UNKNOWN", kPrecondition,
       "knows no event"},
      {"UnknownNameWithoutPmu",
       -7,
       kLookUp,
       event,
       {.hardware_event_errno = ENOENT},
       "EVENT_UNKNOWN",
       kPrecondition,
       "whose PMU it does not know"},
      {"NoSuchPreset", -12, kAdd, event, zen4, "EVENT_UNKNOWN", kPrecondition, "knows no event"},
      {"NoSuchPresetIsPapisMatter",
       -12,
       kLookUp,
       {.name = "PAPI_L1_DCM"},
       zen4,
       "EVENT_UNKNOWN",
       kPrecondition,
       "PAPI 7.0.0.0 knows no preset PAPI_L1_DCM for amd64_fam19h_zen4"},
      {"EaccesAtLevel3", -15, kAdd, event, kUser3, "PARANOID", kPrecondition,
       "(sudo sysctl kernel.perf_event_paranoid=2)"},
      {"EaccesAtLevel2",
       -15,
       kAdd,
       event,
       {.perf_event_paranoid = 2},
       "PERMISSION",
       kPrecondition,
       "(sudo sysctl kernel.perf_event_paranoid=1)"},
      {"EpermOfSeccomp",
       -15,
       kAdd,
       event,
       {.hardware_event_errno = EPERM,
        .perf_event_paranoid = 2,
        .seccomp_mode = 2,
        .container = "docker"},
       "SECCOMP",
       kPrecondition,
       "--cap-add PERFMON"},
      {"DisabledPreset", -25, kAdd, event, csv, "PAPI_DISABLED", kPrecondition,
       "Error loading preset events"},
      {"DisabledPresetByParanoid", -25, kAdd, event, root3, "PAPI_DISABLED", kPrecondition,
       "paranoid=3 (sudo sysctl kernel.perf_event_paranoid=2)"},
      {"DisabledNativeEnoevnt", -7, kAdd, event, csv, "PAPI_DISABLED", kPrecondition,
       "Error loading preset events"},
      {"DisabledNativeEcmp", -4, kAdd, event, csv, "PAPI_DISABLED", kPrecondition,
       "Error loading preset events"},
      {"DisabledNativeEnosupp", -18, kLookUp, event, csv, "PAPI_DISABLED", kPrecondition,
       "Error loading preset events"},
      {"DisabledBecauseTheKernelRefuses", -25, kAdd, event, kUser3, "PARANOID", kPrecondition,
       "uid 1000"},
      {"EinvalGroupDoesNotFit",
       -1,
       kAdd,
       fifth_fits_alone,
       {},
       "GROUP_FULL",
       kExhausted,
       "beside 4 others"},
      {"EinvalEventIsBad",
       -1,
       kAdd,
       fifth_is_bad,
       {},
       "EVENT_NOT_ON_CPU",
       kPrecondition,
       "not even by itself"},
      {"ZeroByteReadWatchdog",
       -8,
       kAdd,
       event,
       {.nmi_watchdog = 1},
       "COUNTER_BUSY",
       kExhausted,
       "the NMI watchdog is on"},
      {"ZeroByteReadOtherHolder",
       -8,
       kAdd,
       event,
       {.nmi_watchdog = 0},
       "COUNTER_BUSY",
       kExhausted,
       "anon_inode:*perf_event*"},
      {"ZeroByteReadGroupDoesNotFit",
       -8,
       kAdd,
       fifth_fits_alone,
       {},
       "GROUP_FULL",
       kExhausted,
       "beside 4 others"},
      {"Emfile",
       -23,
       kAdd,
       {kEvent, 4},
       {.open_files_limit = 64, .threads = 20},
       "TOO_MANY_FILES",
       kExhausted,
       "20 threads x 4 events need 80"},
      {"Ebusy",
       -3,
       kAdd,
       event,
       {.hardware_event_errno = EBUSY},
       "COUNTER_BUSY",
       kExhausted,
       "another program holds the counters"},
      {"EbusyGoneWhenAskedAnew",
       -3,
       PapiCall::kStart,
       event,
       {},
       "COUNTER_BUSY",
       kExhausted,
       "another program holds the counters"},
      {"Eagain",
       -3,
       kAdd,
       event,
       {.hardware_event_errno = EAGAIN},
       "COUNTER_BUSY",
       kExhausted,
       "at the moment"},
      {"Enosys",
       -3,
       kAdd,
       event,
       {.hardware_event_errno = ENOSYS},
       "NO_PERF_EVENTS",
       kPrecondition,
       "built without perf events"},
      {"Esrch",
       -3,
       kAdd,
       event,
       {.hardware_event_errno = ESRCH},
       "THREAD_GONE",
       ErrorCode::kAborted,
       "has ended"},
      {"EnodevNoPmu",
       -18,
       kAdd,
       event,
       {.hardware_event_errno = ENODEV},
       "NO_PMU",
       kPrecondition,
       "no driver"},
      {"EopnotsuppOtherEventsCount",
       -18,
       kAdd,
       event,
       {},
       "EVENT_NOT_ON_CPU",
       kPrecondition,
       "is gone, or it cannot count"},
      {"ShortRead",
       -3,
       PapiCall::kRead,
       {},
       {},
       "COUNTERS_LOST",
       ErrorCode::kAborted,
       "the pass does not count"},
      {"ShortReadAtStop",
       -3,
       PapiCall::kStop,
       {},
       {},
       "COUNTERS_LOST",
       ErrorCode::kAborted,
       "the pass does not count"},
      {"Eclost",
       -5,
       PapiCall::kRead,
       {},
       {},
       "COUNTERS_LOST",
       ErrorCode::kAborted,
       "the pass does not count"},
      {"SecondStart",
       -10,
       PapiCall::kStart,
       {},
       {},
       "PROFILER_DEFECT",
       ErrorCode::kInternal,
       "defect of tinyprof"},
      {"ParanoidFileAbsent", -25, kAdd, event, masked, "NO_PERF_EVENTS", kPrecondition,
       "no /proc/sys/kernel/perf_event_paranoid"},
      {"UnknownCode", -99, kAdd, event, {}, "COUNTER_ERROR", ErrorCode::kInternal, "-99"},
      {"SoftwareEventUnknownToThisKernel",
       -7,
       kAdd,
       {.name = "perf::PAGE-FAULTS"},
       {.hardware_event_errno = ENOENT},
       "EVENT_NOT_ON_CPU",
       kPrecondition,
       "perf::PAGE-FAULTS"},
      {"SoftwareEventInKernelMode",
       -15,
       kAdd,
       {.name = "perf::CONTEXT-SWITCHES:k=1"},
       {.hardware_event_errno = ENOENT, .perf_event_paranoid = 2},
       "PERMISSION",
       kPrecondition,
       "perf_event_paranoid=1"},
  };
}

class PapiErrorTest : public ::testing::TestWithParam<PapiRow> {};

TEST_P(PapiErrorTest, SaysWhatTheTableSays) {
  const PapiRow& row = GetParam();
  const Error error = PapiError(row.papi_code, row.call, row.event, row.context);
  EXPECT_EQ(error.reason, row.reason);
  EXPECT_EQ(error.code, row.code);
  EXPECT_THAT(error.message, HasSubstr(row.says));
  EXPECT_EQ(error.metadata.at("event"),
            row.event.name.empty() ? "the event group" : std::string(row.event.name));
  EXPECT_EQ(error.metadata.at("papi_code"), std::to_string(row.papi_code));
}

INSTANTIATE_TEST_SUITE_P(Table, PapiErrorTest, ::testing::ValuesIn(PapiRows()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(PapiInitError, AMismatchNamesBothVersions) {
  // PAPI's encoding: a byte each of major, minor, revision and increment.
  const Error error = PapiInitError(-1, 0x06050000);
  EXPECT_EQ(error.reason, "PAPI_INIT");
  EXPECT_THAT(error.message, HasSubstr("built for PAPI 7."));
  EXPECT_THAT(error.message, HasSubstr("installed one is 6.5.0.0"));
}

TEST(PapiInitError, WhatIsNoMismatchGivesTheAnswer) {
  EXPECT_THAT(PapiInitError(-2, 0).message, HasSubstr("cannot be initialised: it answers -2"));
}

}  // namespace
}  // namespace tinyprof
