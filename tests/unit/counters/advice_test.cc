// The advice of the diagnosis mends what was found, and never makes it worse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/counters/diagnosis.h"
#include "machine_tree.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// What PAPI says when the kernel refuses every hardware event.
SystemProbe RefusedByTheKernel(const MachineTree& tree, int error_number, const char* reason) {
  SystemProbe probe = tree.Probe(error_number, 0);
  probe.backend.unusable_reason = reason;
  return probe;
}

struct KernelRow {
  int error_number;
  const char* reason;  // PAPI's
  const char* fix;     // a part; null: no command mends it
};

TEST(PapiAdvice, AVariableIsNotBlamedForWhatTheKernelRefuses) {
  const KernelRow rows[] = {{ENOENT, "NO_PMU: x", nullptr},
                            {EBUSY, "COUNTER_BUSY: x", "anon_inode"},
                            {EMFILE, "TOO_MANY_FILES: x", "ulimit -n"},
                            {ENOSYS, "NO_PERF_EVENTS: x", nullptr},
                            {EINVAL, "EVENT_NOT_ON_CPU: x", nullptr},
                            {EFAULT, "COUNTER_ERROR: x", nullptr}};
  for (const KernelRow& row : rows) {
    for (const char* name : {"LIBPFM_FORCE_PMU", "LIBPFM_DISABLED_PMUS", "PAPI_USER_EVENTS_FILE"}) {
      SCOPED_TRACE(std::string(row.reason) + " " + name);
      MachineTree tree;
      tree.environment[name] = "/skx";
      tree.Write("skx", "# nothing\n");
      const DiagnosticCheck check =
          Find(Diagnose(RefusedByTheKernel(tree, row.error_number, row.reason)), "PAPI");
      EXPECT_EQ(check.state, CheckState::kFail);
      if (row.fix == nullptr) {
        EXPECT_THAT(check.fix, IsEmpty());
        EXPECT_THAT(check.why, HasSubstr("no command mends that: "));
      } else {
        EXPECT_THAT(check.fix, HasSubstr(row.fix));
      }
    }
  }
}

TEST(PapiAdvice, ALevelThatExplainsNothingIsNotBlamed) {
  MachineTree tree;
  tree.Write("proc/sys/kernel/perf_event_paranoid", "3\n");
  EXPECT_THAT(Find(Diagnose(RefusedByTheKernel(tree, ENOENT, "NO_PMU: x")), "PAPI").fix, IsEmpty());
}

TEST(PapiAdvice, TheLevelThatPapiNamesIsBlamedWhateverTheFileSaysNow) {
  MachineTree tree;
  tree.environment["LIBPFM_FORCE_PMU"] = "skx";
  SystemProbe probe = tree.Probe(0);
  probe.backend.unusable_reason =
      "PAPI_DISABLED: PAPI has switched its counters off: perf_event support disabled by Linux "
      "with paranoid=3";
  EXPECT_EQ(Find(Diagnose(probe), "PAPI").fix, "sudo sysctl kernel.perf_event_paranoid=2");
}

TEST(PapiAdvice, OfTwoVariablesTheOneThatHidesThePmuIsBlamed) {
  MachineTree tree;
  tree.environment["LIBPFM_FORCE_PMU"] = "amd64_fam19h_zen4";
  tree.environment["LIBPFM_DISABLED_PMUS"] = "zen";
  SystemProbe probe = tree.Probe(0);
  probe.backend.pmu = "";
  probe.backend.unusable_reason = "PAPI_DISABLED: PAPI has switched its counters off: no PMU";
  EXPECT_EQ(Find(Diagnose(probe), "PAPI").fix, "unset LIBPFM_DISABLED_PMUS");
  tree.environment["LIBPFM_DISABLED_PMUS"] = "skx";
  EXPECT_EQ(Find(Diagnose(probe), "PAPI").fix, "unset LIBPFM_FORCE_PMU");
}

TEST(PapiAdvice, APmuThatAVariableHidesIsNoNewCpu) {
  MachineTree tree;
  tree.Write("proc/cpuinfo",
             "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
             "model name\t: AMD EPYC 9B14\nflags\t\t: fpu\n");
  tree.environment["LIBPFM_DISABLED_PMUS"] = "fam19h";
  SystemProbe probe = tree.Probe(0);
  probe.backend.pmu = "";
  EXPECT_EQ(Find(Diagnose(probe), "event tables").fix, "unset LIBPFM_DISABLED_PMUS");
  tree.environment["LIBPFM_DISABLED_PMUS"] = "skx";
  EXPECT_THAT(Find(Diagnose(probe), "event tables").fix, IsEmpty());
}

TEST(OpenFilesAdvice, IsAboveThePresentLimitAndAboveWhatIsNeeded) {
  MachineTree tree;
  for (const char* limit : {"20000", "64"}) {
    SCOPED_TRACE(limit);
    tree.Write("proc/self/limits",
               "Max open files            " + std::string(limit) + "   99999 files\n");
    const DiagnosticCheck check = Find(Diagnose(tree.Probe(EMFILE)), "hardware counters");
    ASSERT_THAT(check.fix, HasSubstr("ulimit -n "));
    EXPECT_GT(std::stoi(check.fix.substr(10)), std::stoi(limit));
    EXPECT_GE(std::stoi(check.fix.substr(10)), 256 + 1);
    EXPECT_THAT(check.found, HasSubstr("LimitNOFILE="));
  }
}

TEST(OpenFilesAdvice, OfTheWholeSystemIsAboveThePresentLimit) {
  MachineTree tree;
  tree.Write("proc/sys/fs/file-max", "3000000\n");
  EXPECT_EQ(Find(Diagnose(tree.Probe(ENFILE)), "hardware counters").fix,
            "sudo sysctl fs.file-max=6000000");
  // The kernel's own default on large machines, which no command raises.
  tree.Write("proc/sys/fs/file-max", "9223372036854775807\n");
  EXPECT_THAT(Find(Diagnose(tree.Probe(ENFILE)), "hardware counters").fix, IsEmpty());
}

TEST(HoldersAdvice, TheDaemonsOwnProcessesAreNoForeignHolders) {
  MachineTree tree;
  for (const char* pid : {"77", "78"}) {
    tree.Link(std::string("proc/") + pid + "/fd/3", "anon_inode:[perf_event]");
  }
  tree.Write("proc/78/status", "Name:\ttinyprof-worker\nPPid:\t77\n");
  SystemProbe probe = tree.Probe(0);
  EXPECT_EQ(Find(Diagnose(probe), "counters taken").state, CheckState::kWarn);
  probe.daemon_pid = 77;
  EXPECT_EQ(Find(Diagnose(probe), "counters taken").state, CheckState::kOk);
}

TEST(MeasurementCpus, AreTheOnesWhoseGovernorAndKindCount) {
  MachineTree tree;
  tree.Write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  tree.Write("sys/devices/cpu_core/cpus", "0\n");
  tree.Write("sys/devices/cpu_atom/cpus", "1\n");
  SystemProbe probe = tree.Probe(0);
  probe.measurement_cpus = {1};
  EXPECT_EQ(Find(Diagnose(probe), "frequency governor").found, "powersave");
  EXPECT_EQ(Find(Diagnose(probe), "core types").state, CheckState::kOk);
  probe.measurement_cpus = {0};
  EXPECT_EQ(Find(Diagnose(probe), "frequency governor").found, "performance");
  probe.measurement_cpus = {0, 1};
  EXPECT_EQ(Find(Diagnose(probe), "core types").state, CheckState::kWarn);
}

TEST(HoldersAdvice, WithoutAPmuNobodyHoldsACounter) {
  MachineTree tree;
  tree.Write("proc/77/comm", "tinyprof-worker\n");
  tree.Link("proc/77/fd/3", "anon_inode:[perf_event]");
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(ENOENT)), "counters taken");
  EXPECT_EQ(check.state, CheckState::kOk);
  EXPECT_THAT(check.fix, IsEmpty());
}

TEST(HoldersAdvice, NobodyIsKilled) {
  MachineTree tree;
  for (const char* pid : {"77", "78"}) {
    tree.Write(std::string("proc/") + pid + "/comm", "tinyprof-worker\n");
    tree.Link(std::string("proc/") + pid + "/fd/3", "anon_inode:[perf_event]");
  }
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "counters taken");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.fix, "ps -o user,pid,lstart,args -p 77,78");
}

TEST(Paranoid, AFileWithoutALevelIsThereAllTheSame) {
  MachineTree tree;
  for (const char* text : {"junk\n", "", "2147483648\n"}) {
    tree.Write("proc/sys/kernel/perf_event_paranoid", text);
    const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "perf_event_paranoid");
    EXPECT_NE(check.state, CheckState::kOk);
    EXPECT_THAT(check.found, Not(HasSubstr("there is no")));
    EXPECT_THAT(check.found, HasSubstr("holds no level"));
  }
}

}  // namespace
}  // namespace tinyprof
