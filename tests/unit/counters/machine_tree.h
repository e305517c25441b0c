// A quiet machine as a folder of files and answers of its kernel, for tests of the diagnosis.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/counters/diagnosis.h"
#include "file_tree.h"

namespace tinyprof {

// Two CPUs; the columns are user nice system idle iowait irq softirq steal guest guest_nice.
inline constexpr const char* kStatBefore =
    "cpu  300 0 100 1600 0 0 0 0 0 0\n"
    "cpu0 200 0 100 700 0 0 0 0 0 0\n"
    "cpu1 100 0 0 900 0 0 0 0 0 0\n"
    "intr 12345 1 2\nctxt 999\n";

// A folder of files that stands for a machine, with answers of its kernel.
class MachineTree : public FileTree {
 public:
  MachineTree() {
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
    Write("proc/stat", kStatBefore);
  }
  SystemProbe Probe(int hardware_errno, int software_errno = 0) const {
    SystemProbe probe;
    probe.root = root();
    probe.open_hardware_event = [=] { return hardware_errno; };
    probe.open_software_event = [=] { return software_errno; };
    probe.open_generic_event = [this](uint64_t config) {
      return missing_configs.count(config) != 0 ? ENOENT : 0;
    };
    probe.environment = [this](const char* name) {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    };
    probe.backend = {.name = "papi", .version = "7.0.0.0", .pmu = "skx"};
    probe.pause = [] {};
    probe.open_memory_controllers = [] { return Status(); };
    return probe;
  }

  std::map<std::string, std::string> environment;
  std::set<uint64_t> missing_configs;
};

inline DiagnosticCheck Find(const std::vector<DiagnosticCheck>& checks, const std::string& name) {
  for (const DiagnosticCheck& check : checks) {
    if (check.name == name) {
      return check;
    }
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

}  // namespace tinyprof
