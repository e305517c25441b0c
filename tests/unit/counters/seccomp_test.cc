// A seccomp filter is told from what the kernel itself refuses, whatever errno it answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>

#include <cerrno>

#include "daemon/counters/diagnosis.h"
#include "machine_tree.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kFiltered = "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n";
constexpr const char* kFilteredRoot = "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n";

std::vector<DiagnosticCheck> DiagnoseFiltered(const MachineTree& tree, int error_number,
                                              bool reaches_kernel) {
  SystemProbe probe = tree.Probe(error_number, error_number);
  probe.call_reaches_kernel = [=] { return reaches_kernel; };
  return Diagnose(probe);
}

TEST(Seccomp, AFilterIsNamedWhateverItAnswers) {
  for (const int error_number : {EPERM, EACCES, ENOSYS}) {
    for (const char* status : {kFiltered, kFilteredRoot}) {
      SCOPED_TRACE(error_number);
      MachineTree tree;
      tree.Write("proc/self/status", status);
      const auto checks = DiagnoseFiltered(tree, error_number, false);
      EXPECT_THAT(Find(checks, "hardware counters").found, HasSubstr("SECCOMP: "));
      EXPECT_THAT(Find(checks, "software events").found, HasSubstr("SECCOMP: "));
      EXPECT_EQ(Find(checks, "seccomp").state, CheckState::kFail);
      // Which container put it there is not known, so no command can be given.
      EXPECT_THAT(Find(checks, "seccomp").fix, IsEmpty());
      EXPECT_THAT(Find(checks, "seccomp").why, HasSubstr("no command mends that: "));
    }
  }
}

TEST(Seccomp, AFilterThatLetsTheCallPassIsNotBlamedForTheKernel) {
  MachineTree tree;
  tree.Write("proc/self/status", kFilteredRoot);
  for (const int error_number : {EPERM, EACCES}) {
    const auto checks = DiagnoseFiltered(tree, error_number, true);
    EXPECT_THAT(Find(checks, "hardware counters").found,
                HasSubstr("PERMISSION: a security module"));
    EXPECT_EQ(Find(checks, "seccomp").state, CheckState::kOk);
  }
}

TEST(Seccomp, AKernelWithoutPerfEventsIsNoFilter) {
  MachineTree tree;
  tree.Write("proc/self/status", kFiltered);
  tree.Remove("proc/sys/kernel/perf_event_paranoid");
  EXPECT_THAT(Find(DiagnoseFiltered(tree, ENOSYS, false), "hardware counters").found,
              HasSubstr("NO_PERF_EVENTS: the kernel is built without perf events"));
}

TEST(Seccomp, WithoutAFilterAMissingCallIsSomethingBeforeTheKernel) {
  const MachineTree tree;
  const DiagnosticCheck check = Find(DiagnoseFiltered(tree, ENOSYS, false), "hardware counters");
  EXPECT_THAT(check.found, HasSubstr("NO_PERF_EVENTS: "));
  EXPECT_THAT(check.found, Not(HasSubstr("built without")));
}

TEST(Seccomp, EachContainerHasItsCommand) {
  const auto fix = [](const char* mark, const char* status) {
    MachineTree tree;
    tree.Write("proc/self/status", status);
    tree.Write(mark, "");
    return Find(DiagnoseFiltered(tree, EPERM, false), "seccomp").fix;
  };
  EXPECT_EQ(fix(".dockerenv", kFiltered), "docker run --cap-add PERFMON debian:12");
  EXPECT_EQ(fix("run/.containerenv", kFiltered), "podman run --cap-add PERFMON debian:12");
  // Who has the capability already needs another filter.
  EXPECT_EQ(fix(".dockerenv", kFilteredRoot),
            "docker run --security-opt seccomp=unconfined debian:12");
  EXPECT_THAT(fix("var/run/secrets/kubernetes.io/x", kFiltered), IsEmpty());
}

// What even level 2 gives to every user is not refused by the level.
TEST(Seccomp, ASecurityModuleIsNotMendedByTheLevel) {
  MachineTree tree;
  tree.Write("proc/self/status",
             "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
  const DiagnosticCheck check = Find(DiagnoseFiltered(tree, EACCES, true), "hardware counters");
  EXPECT_THAT(check.found, HasSubstr("PERMISSION: a security module"));
  EXPECT_THAT(check.fix, IsEmpty());
}

TEST(EventsOff, NothingIsTriedAndEverythingElseIsTold) {
  const MachineTree tree;
  SystemProbe probe = tree.Probe(0);
  const auto opened = [] {
    ADD_FAILURE() << "an event was opened";
    return 0;
  };
  probe.open_hardware_event = opened;
  probe.open_software_event = opened;
  probe.open_generic_event = [&](uint64_t) { return opened(); };
  probe.open_memory_controllers = [&] { return opened(), Status(); };
  probe.call_reaches_kernel = [&] { return opened() == 0; };
  probe.events_off = Refusal{"SECCOMP", "a filter kills", "do this"};
  const auto checks = Diagnose(probe);
  for (const char* name : {"hardware counters", "software events", "seccomp"}) {
    EXPECT_EQ(Find(checks, name).state, CheckState::kFail) << name;
    EXPECT_EQ(Find(checks, name).found, "SECCOMP: a filter kills") << name;
    EXPECT_EQ(Find(checks, name).fix, "do this") << name;
  }
  EXPECT_EQ(Find(checks, "memory traffic").state, CheckState::kSkip);
  EXPECT_EQ(Find(checks, "frequency governor").state, CheckState::kOk);
  EXPECT_EQ(Find(checks, "open files").state, CheckState::kOk);
}

}  // namespace
}  // namespace tinyprof
