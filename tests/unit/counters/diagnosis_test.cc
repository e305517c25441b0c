#include "daemon/counters/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A folder of files that stands for a machine; gone with the object.
class MachineTree {
 public:
  MachineTree() {
    std::string name = (std::filesystem::temp_directory_path() / "tinyprof_tree_XXXXXX").string();
    root_ = mkdtemp(name.data());
    // A quiet bare-metal machine.
    Write("proc/sys/kernel/perf_event_paranoid", "2\n");
    Write("proc/sys/kernel/nmi_watchdog", "0\n");
    Write("proc/cpuinfo",
          "processor\t: 0\nflags\t\t: fpu sse2 avx2\nprocessor\t: 1\nflags\t\t: fpu sse2\n");
    Write("proc/self/status",
          "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000004000000000\nSeccomp:\t0\n");
    Write("proc/self/limits",
          "Limit                     Soft Limit           Hard Limit           Units     \n"
          "Max open files            1024                 4096                 files     \n");
    Write("proc/loadavg", "0.04 0.10 0.09 1/200 4242\n");
    Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    Write("sys/devices/system/cpu/smt/control", "off\n");
    Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  }
  ~MachineTree() { std::filesystem::remove_all(root_); }
  MachineTree(const MachineTree&) = delete;
  MachineTree& operator=(const MachineTree&) = delete;

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void Remove(const std::string& path) { std::filesystem::remove_all(root_ / path); }

  SystemProbe Probe(int hardware_errno, int software_errno = 0) const {
    SystemProbe probe;
    probe.root = root_.string();
    probe.open_hardware_event = [=] { return hardware_errno; };
    probe.open_software_event = [=] { return software_errno; };
    return probe;
  }

 private:
  std::filesystem::path root_;
};

DiagnosticCheck Find(const std::vector<DiagnosticCheck>& checks, const std::string& name) {
  for (const DiagnosticCheck& check : checks) {
    if (check.name == name) {
      return check;
    }
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

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
}

}  // namespace
}  // namespace tinyprof
