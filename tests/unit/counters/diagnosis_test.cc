#include "daemon/counters/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>

#include "daemon/counters/system_watch.h"
#include "machine_tree.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Diagnose, AQuietMachineIsOkThroughout) {
  const MachineTree tree;
  for (const DiagnosticCheck& check : Diagnose(tree.Probe(0))) {
    EXPECT_EQ(check.state, CheckState::kOk) << check.name << ": " << check.found;
    EXPECT_THAT(check.why, IsEmpty()) << check.name;
    EXPECT_THAT(check.fix, IsEmpty()) << check.name;
  }
}

TEST(Diagnose, WhatIsNotOkSaysWhy) {
  MachineTree tree;
  tree.Write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n");
  tree.Write("proc/sys/kernel/perf_event_paranoid", "4\n");
  tree.Write("proc/sys/kernel/nmi_watchdog", "1\n");
  tree.Write("proc/self/limits", "Max open files            64   64 files\n");
  tree.Write("proc/loadavg", "3.00 1 1 1/1 1\n");
  tree.Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  tree.Write("sys/devices/system/cpu/smt/control", "on\n");
  tree.Write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  const auto checks = Diagnose(tree.Probe(0));
  for (const char* name : {"perf_event_paranoid", "NMI watchdog", "frequency governor", "SMT",
                           "open files", "load", "transparent huge pages"}) {
    const DiagnosticCheck check = Find(checks, name);
    EXPECT_NE(check.state, CheckState::kOk) << name;
    EXPECT_THAT(check.why, Not(IsEmpty())) << name;
    EXPECT_THAT(check.fix, Not(IsEmpty())) << name;
  }
  EXPECT_EQ(Find(checks, "hypervisor").state, CheckState::kWarn);
}

const Refusal kNoControllers = {"NO_UNCORE", "there are none", ""};
const Refusal kControllersForbidden = {"PERMISSION", "they count for all", "sudo do this"};

tl::unexpected<Error> Refused(const Refusal& refusal) {
  return tl::unexpected<Error>(ToError(refusal, "uncore_imc_0"));
}

// Each of these machines has one thing that speaks against counting or against a quiet run.
std::vector<std::vector<DiagnosticCheck>> TroubledMachines() {
  std::vector<std::vector<DiagnosticCheck>> machines;
  const auto add = [&](int hardware_errno, int software_errno, auto change) {
    MachineTree tree;
    SystemProbe probe = tree.Probe(hardware_errno, software_errno);
    change(tree, probe);
    machines.push_back(Diagnose(probe));
  };
  for (const int error_number :
       {ENOENT, ENODEV, ENXIO, EACCES, EPERM, ENOSYS, EBUSY, EMFILE, ENFILE, EINVAL, EFAULT}) {
    add(error_number, error_number, [](MachineTree&, SystemProbe&) {});
  }
  const auto write = [&](const char* path, const char* text) {
    add(0, 0, [&](MachineTree& tree, SystemProbe&) { tree.Write(path, text); });
  };
  write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n");
  write("proc/sys/kernel/perf_event_paranoid", "3\n");
  write("proc/sys/kernel/perf_event_paranoid", "4\n");
  write("proc/sys/kernel/nmi_watchdog", "1\n");
  write("proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t0\n");
  write("proc/self/limits", "Max open files            64   64 files\n");
  write("proc/loadavg", "3.00 1 1 1/1 1\n");
  write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  write("sys/devices/system/cpu/smt/control", "on\n");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  add(0, 0,
      [](MachineTree& tree, SystemProbe&) { tree.Remove("proc/sys/kernel/perf_event_paranoid"); });
  add(0, 0, [](MachineTree& tree, SystemProbe&) {
    tree.Write("sys/devices/cpu_core/cpus", "0-7\n");
    tree.Write("sys/devices/cpu_atom/cpus", "8-15\n");
  });
  add(0, 0, [](MachineTree& tree, SystemProbe&) {
    tree.Link("proc/77/fd/3", "anon_inode:[perf_event]");
  });
  add(0, 0, [](MachineTree&, SystemProbe& probe) {
    probe.backend = {.name = "papi", .unusable_reason = "PAPI_DISABLED: no default PMU found"};
  });
  add(0, 0, [](MachineTree&, SystemProbe& probe) {
    probe.open_generic_event = [](uint64_t) { return ENOENT; };
  });
  for (const Refusal& refusal : {kNoControllers, kControllersForbidden}) {
    add(0, 0, [&](MachineTree&, SystemProbe& probe) {
      probe.open_memory_controllers = [=] { return Status(Refused(refusal)); };
    });
  }
  for (const char* name : {"PAPI_CSV_EVENT_FILE", "PAPI_USER_EVENTS_FILE", "LIBPFM_FORCE_PMU",
                           "LIBPFM_DISABLED_PMUS"}) {
    add(0, 0, [&](MachineTree&, SystemProbe& probe) {
      probe.environment = [name](const char* asked) {
        return std::string(name) == asked ? "/x" : nullptr;
      };
    });
  }
  return machines;
}

TEST(Judge, WhatIsNotKnownIsNotOk) {
  SystemFacts nothing;
  nothing.backend = {};
  for (const char* name :
       {"PAPI", "event tables", "events of the CPU", "memory traffic", "capability", "seccomp",
        "NMI watchdog", "counters taken", "open files", "load", "SMT"}) {
    EXPECT_EQ(Find(Judge(nothing), name).state, CheckState::kSkip) << name;
  }
}

TEST(Diagnose, EveryTroubleHasAFixOrSaysWhyThereIsNone) {
  for (const auto& machine : TroubledMachines()) {
    int troubles = 0;
    for (const DiagnosticCheck& check : machine) {
      if (check.state == CheckState::kOk || check.state == CheckState::kSkip) {
        continue;
      }
      ++troubles;
      EXPECT_THAT(check.found, Not(IsEmpty())) << check.name;
      EXPECT_THAT(check.why, Not(IsEmpty())) << check.name;
      if (check.fix.empty()) {
        EXPECT_THAT(check.why, HasSubstr("no command mends that: ")) << check.name;
      }
    }
    EXPECT_GT(troubles, 0);
  }
}

TEST(Diagnose, AVirtualMachineWithoutPmuNeedsItsHypervisor) {
  MachineTree tree;
  tree.Write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor sse2\n");
  tree.Write("proc/sys/kernel/nmi_watchdog", "1\n");
  const auto checks = Diagnose(tree.Probe(ENOENT));
  const DiagnosticCheck hardware = Find(checks, "hardware counters");
  EXPECT_EQ(hardware.state, CheckState::kFail);
  EXPECT_EQ(hardware.found, "NO_PMU: the kernel exposes no hardware PMU (virtual machine)");
  EXPECT_THAT(hardware.why, HasSubstr("hypervisor"));
  EXPECT_THAT(hardware.fix, IsEmpty());
  EXPECT_EQ(Find(checks, "software events").state, CheckState::kOk);
  EXPECT_EQ(Find(checks, "NMI watchdog").state, CheckState::kOk);
}

TEST(Diagnose, DebiansParanoidLevelStopsEvenRoot) {
  MachineTree tree;
  tree.Write("proc/sys/kernel/perf_event_paranoid", "3\n");
  tree.Write("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "perf_event_paranoid");
  EXPECT_EQ(check.state, CheckState::kFail);
  EXPECT_EQ(check.fix, "sudo sysctl kernel.perf_event_paranoid=2");
}

TEST(Diagnose, UbuntusParanoidLevelIsOneThatPapiDoesNotKnow) {
  MachineTree tree;
  tree.Write("proc/sys/kernel/perf_event_paranoid", "4\n");
  DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "perf_event_paranoid");
  EXPECT_EQ(check.state, CheckState::kFail);
  EXPECT_THAT(check.why, HasSubstr("looks usable, and each event fails"));
  tree.Write("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
  check = Find(Diagnose(tree.Probe(0)), "perf_event_paranoid");
  EXPECT_EQ(check.state, CheckState::kWarn);
}

TEST(Diagnose, Papi70IgnoresTheCapability) {
  MachineTree tree;  // has CAP_PERFMON
  tree.Write("proc/sys/kernel/perf_event_paranoid", "3\n");
  SystemProbe probe = tree.Probe(0);
  const DiagnosticCheck check = Find(Diagnose(probe), "capability");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_THAT(check.why, HasSubstr("ignores the capability"));
  probe.backend.version = "7.3.0.0";
  EXPECT_EQ(Find(Diagnose(probe), "capability").state, CheckState::kOk);
}

TEST(Diagnose, ACpuThatIsNewerThanLibpfm4IsNamed) {
  MachineTree tree;
  tree.Write("proc/cpuinfo",
             "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n"
             "model name\t: AMD EPYC 9755 128-Core Processor\nflags\t\t: fpu\n");
  SystemProbe probe = tree.Probe(0);
  probe.backend.pmu = "";
  const DiagnosticCheck check = Find(Diagnose(probe), "event tables");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.found,
            "EVENT_UNKNOWN: libpfm4 has no PMU for AMD EPYC 9755 128-Core Processor (family 26, "
            "model 2)");
}

TEST(Diagnose, AStandInForThePmuIsNoKernelThatCounts) {
  const MachineTree tree;
  SystemProbe probe = tree.Probe(0);
  probe.backend.name = "simulated";
  const DiagnosticCheck check = Find(Diagnose(probe), "hardware counters");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_THAT(check.found, HasSubstr("simulated"));
  EXPECT_EQ(check.fix, "unset LD_PRELOAD");
}

TEST(Diagnose, AnArmCpuIsNamedByItsPart) {
  MachineTree tree;
  tree.Write("proc/cpuinfo",
             "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd08\n");
  EXPECT_EQ(GatherFacts(tree.Probe(0)).cpu_model, "implementer 0x41, part 0xd08");
}

TEST(Diagnose, GenericEventsThatTheCpuLacksAreNamed) {
  MachineTree tree;
  tree.missing_configs = {3, 5};  // the kernel's numbers of cache misses and branch misses
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "events of the CPU");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.found, "EVENT_NOT_ON_CPU: the kernel refuses cache-misses, branch-misses");
  // Without any hardware event there is nothing to tell of single ones.
  EXPECT_EQ(Find(Diagnose(tree.Probe(ENOENT)), "events of the CPU").state, CheckState::kSkip);
}

TEST(Diagnose, MemoryTrafficNamesTheRightThatCountingItTakes) {
  MachineTree tree;
  SystemProbe probe = tree.Probe(0);
  EXPECT_EQ(Find(Diagnose(probe), "memory traffic").state, CheckState::kOk);
  probe.open_memory_controllers = [] { return Status(Refused(kControllersForbidden)); };
  DiagnosticCheck check = Find(Diagnose(probe), "memory traffic");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.found, "PERMISSION: they count for all (sudo do this)");
  EXPECT_EQ(check.fix, "sudo do this");
  probe.open_memory_controllers = [] { return Status(Refused(kNoControllers)); };
  check = Find(Diagnose(probe), "memory traffic");
  EXPECT_EQ(check.found, "NO_UNCORE: there are none");
  EXPECT_THAT(check.fix, IsEmpty());
}

TEST(Diagnose, MemoryControllersAreLookedForBelowTheRoot) {
  MachineTree tree;
  SystemProbe probe = tree.Probe(0);
  probe.open_memory_controllers = {};
  EXPECT_THAT(Find(Diagnose(probe), "memory traffic").found, HasSubstr("NO_UNCORE: "));
}

TEST(Diagnose, OtherProgramsThatHoldPerfEventsAreListed) {
  MachineTree tree;
  tree.Write("proc/77/comm", "perf\n");
  tree.Link("proc/77/fd/0", "/dev/null");
  tree.Link("proc/77/fd/3", "anon_inode:[perf_event]");
  tree.Link("proc/77/fd/4", "anon_inode:[perf_event]");
  tree.Write("proc/78/comm", "bash\n");
  tree.Link("proc/78/fd/3", "anon_inode:[eventfd]");
  tree.Write("proc/79/comm", "hidden\n");  // no fd folder can be read
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "counters taken");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.found,
            "perf (pid 77) holds 2 perf events; the open files of 1 process are hidden");
  EXPECT_EQ(check.fix, "ps -o user,pid,lstart,args -p 77");
}

TEST(Diagnose, ThisProcessIsNoForeignHolder) {
  MachineTree tree;
  tree.Remove("proc/self");
  tree.Link("proc/self", "77");
  tree.Link("proc/77/fd/3", "anon_inode:[perf_event]");
  EXPECT_EQ(Find(Diagnose(tree.Probe(0)), "counters taken").state, CheckState::kOk);
}

TEST(Diagnose, ABusySiblingIsFoundByWatchingTheCpus) {
  MachineTree tree;
  tree.Write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
  tree.Write("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n");
  SystemProbe probe = tree.Probe(0);
  EXPECT_EQ(Find(Diagnose(probe), "SMT sibling").state, CheckState::kOk);
  // In 10 ticks CPU 1 is idle for 2 and busy for 8, CPU 0 is idle.
  probe.pause = [&] {
    tree.Write("proc/stat",
               "cpu  306 0 102 1612 0 0 0 0 0 0\n"
               "cpu0 200 0 100 710 0 0 0 0 0 0\n"
               "cpu1 106 0 2 902 0 0 0 0 0 0\n");
  };
  const DiagnosticCheck check = Find(Diagnose(probe), "SMT sibling");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.found, "CPU 0 shares its core with CPU 1, which is 80 % busy");
}

TEST(Diagnose, HybridCpusAreToldBySysfs) {
  MachineTree tree;
  tree.Write("sys/devices/cpu_core/cpus", "0-7\n");
  tree.Write("sys/devices/cpu_atom/cpus", "8-15\n");
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "core types");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.found, "cpu_core 0-7, cpu_atom 8-15");
  EXPECT_EQ(check.fix, "tinyprofd --cpus 0-7");
}

TEST(Diagnose, BigAndLittleCoresAreToldByTheirCapacity) {
  MachineTree tree;
  tree.Write("sys/devices/system/cpu/cpu0/cpu_capacity", "446\n");
  tree.Write("sys/devices/system/cpu/cpu1/cpu_capacity", "1024\n");
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "core types");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.found, "capacities 1024, 446");
  EXPECT_THAT(check.fix, HasSubstr("1024"));
  tree.Write("sys/devices/system/cpu/cpu0/cpu_capacity", "1024\n");
  EXPECT_EQ(Find(Diagnose(tree.Probe(0)), "core types").state, CheckState::kOk);
}

TEST(Diagnose, OneCpuWithAnotherGovernorIsSeen) {
  MachineTree tree;
  tree.Write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), "frequency governor");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.found, "performance, powersave");
}

struct VariableRow {
  const char* name;
  const char* value;
  const char* file_text;  // null: no such file
  CheckState state;
  const char* says;
};

class VariableTest : public ::testing::TestWithParam<VariableRow> {};

TEST_P(VariableTest, IsJudged) {
  const VariableRow& row = GetParam();
  MachineTree tree;
  tree.environment[row.name] = row.value;
  if (row.file_text != nullptr) {
    tree.Write(std::string(".") + row.value, row.file_text);
  }
  const DiagnosticCheck check = Find(Diagnose(tree.Probe(0)), row.name);
  EXPECT_EQ(check.state, row.state);
  EXPECT_THAT(check.found + "; " + check.why, HasSubstr(row.says));
  EXPECT_EQ(check.fix, row.state == CheckState::kOk ? "" : std::string("unset ") + row.name);
}

INSTANTIATE_TEST_SUITE_P(
    Variables, VariableTest,
    ::testing::Values(
        VariableRow{"PAPI_CSV_EVENT_FILE", "/presets.csv", nullptr, CheckState::kFail,
                    "switches all of its counters off"},
        VariableRow{"PAPI_CSV_EVENT_FILE", "/proc", nullptr, CheckState::kFail, "cannot be read"},
        VariableRow{"PAPI_CSV_EVENT_FILE", "/presets.csv", "", CheckState::kFail, "is empty"},
        VariableRow{"PAPI_CSV_EVENT_FILE", "/presets.csv", "CPU,skx\n", CheckState::kWarn,
                    "takes the place of all of PAPI's presets"},
        VariableRow{"PAPI_CSV_EVENT_FILE", "", nullptr, CheckState::kOk, "not set"},
        VariableRow{"PAPI_USER_EVENTS_FILE", "/user.csv", nullptr, CheckState::kFail,
                    "cannot be read"},
        VariableRow{"PAPI_USER_EVENTS_FILE", "/user.csv", "EVENT,X\n", CheckState::kWarn,
                    "/user.csv"},
        VariableRow{"LIBPFM_FORCE_PMU", "skx", nullptr, CheckState::kWarn, "another CPU"},
        VariableRow{"LIBPFM_FORCE_PMU", "", nullptr, CheckState::kWarn, "first PMU of its table"},
        VariableRow{"LIBPFM_DISABLED_PMUS", "skx", nullptr, CheckState::kWarn,
                    "leaves these PMUs"}));

TEST(ParseCpuTicks, CountsWaitingAsIdleAndGuestsOnce) {
  const auto ticks = ParseCpuTicks("cpu 1 1 1 1\ncpu3 10 20 30 400 50 6 7 8 10 0\nintr 5\n");
  ASSERT_EQ(ticks.size(), 1U);
  EXPECT_EQ(ticks.at(3).busy, 10 + 20 + 30 + 6 + 7 + 8);
  EXPECT_EQ(ticks.at(3).total, 10 + 20 + 30 + 400 + 50 + 6 + 7 + 8);
}

TEST(FindBusySiblings, TwoBusyCpusOfACoreDisturbNobodyElse) {
  const std::map<int, std::vector<int>> core = {{0, {0, 1}}, {1, {0, 1}}};
  const std::map<int, CpuTicks> before = {{0, {0, 0}}, {1, {0, 0}}};
  EXPECT_TRUE(FindBusySiblings(before, {{0, {9, 10}}, {1, {9, 10}}}, core).empty());
  EXPECT_TRUE(FindBusySiblings(before, {{0, {0, 0}}, {1, {0, 0}}}, core).empty());
  const auto found = FindBusySiblings(before, {{0, {5, 10}}, {1, {0, 10}}}, core);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cpu, 1);
  EXPECT_EQ(found[0].sibling, 0);
}

TEST(Diagnose, AContainersSeccompFilterIsNamed) {
  MachineTree tree;
  tree.Write("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n");
  const auto checks = Diagnose(tree.Probe(EPERM, EPERM));
  EXPECT_EQ(Find(checks, "seccomp").state, CheckState::kFail);
  EXPECT_THAT(Find(checks, "hardware counters").found, HasSubstr("SECCOMP: "));
  EXPECT_EQ(Find(checks, "software events").state, CheckState::kFail);
  EXPECT_EQ(Find(checks, "capability").state, CheckState::kWarn);
  // A filter that lets the call pass is no problem.
  EXPECT_EQ(Find(Diagnose(tree.Probe(0)), "seccomp").state, CheckState::kOk);
}

TEST(Diagnose, CapabilitiesAreReadBitByBit) {
  MachineTree tree;
  const auto state_for = [&](const std::string& caps) {
    tree.Write("proc/self/status", "CapEff:\t" + caps + "\n");
    return Find(Diagnose(tree.Probe(0)), "capability").state;
  };
  EXPECT_EQ(state_for("0000004000000000"), CheckState::kOk);    // bit 38, CAP_PERFMON
  EXPECT_EQ(state_for("0000000000200000"), CheckState::kOk);    // bit 21, CAP_SYS_ADMIN
  EXPECT_EQ(state_for("0000003fffdfffff"), CheckState::kWarn);  // all up to 37 but 21
  tree.Write("proc/sys/kernel/perf_event_paranoid", "1\n");
  EXPECT_EQ(state_for("0000000000000000"), CheckState::kOk);
}

TEST(Diagnose, AnEmptyTreeIsJudgedWithoutInventingFacts) {
  SystemProbe probe;
  probe.root = "/nonexistent/tree";
  probe.open_hardware_event = [] { return ENOSYS; };
  probe.open_software_event = [] { return ENOSYS; };
  const auto checks = Diagnose(probe);
  EXPECT_THAT(Find(checks, "hardware counters").found, HasSubstr("NO_PERF_EVENTS: "));
  EXPECT_EQ(Find(checks, "perf_event_paranoid").state, CheckState::kFail);
  EXPECT_EQ(Find(checks, "load").found, "the kernel does not tell");
  EXPECT_EQ(Find(checks, "frequency governor").found, "the kernel does not tell");
}

TEST(Diagnose, FilesOfNonsenseAreNotTold) {
  MachineTree tree;
  tree.Write("proc/sys/kernel/nmi_watchdog", "maybe\n");
  tree.Write("proc/loadavg", "\n");
  tree.Write("proc/self/limits", "Max open files            unlimited\n");
  tree.Write("sys/kernel/mm/transparent_hugepage/enabled", "always\n");
  const auto checks = Diagnose(tree.Probe(0));
  for (const char* name : {"NMI watchdog", "load", "open files", "transparent huge pages"}) {
    EXPECT_EQ(Find(checks, name).found, "the kernel does not tell") << name;
  }
}

TEST(Judge, PapiThatIsSwitchedOffFails) {
  SystemFacts facts;
  facts.backend = {
      .name = "papi", .version = "7.0.0.0", .pmu = "", .unusable_reason = "PAPI_DISABLED: x"};
  const DiagnosticCheck check = Find(Judge(facts), "PAPI");
  EXPECT_EQ(check.state, CheckState::kFail);
  EXPECT_EQ(check.found, "version 7.0.0.0, PMU unknown; PAPI_DISABLED: x");
  EXPECT_THAT(check.why, HasSubstr("no command mends that: "));
  facts.environment = {{"PAPI_CSV_EVENT_FILE", "/x", std::nullopt}};
  EXPECT_EQ(Find(Judge(facts), "PAPI").fix, "unset PAPI_CSV_EVENT_FILE");
  facts.perf_event_paranoid = 3;
  EXPECT_EQ(Find(Judge(facts), "PAPI").fix, "sudo sysctl kernel.perf_event_paranoid=2");
}

}  // namespace
}  // namespace tinyprof
