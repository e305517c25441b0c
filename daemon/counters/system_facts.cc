#include "daemon/counters/system_facts.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#include "daemon/counters/fact_files.h"
#include "daemon/counters/perf/uncore.h"

namespace tinyprof {
namespace {

int OpenEventErrno(uint32_t type, uint64_t config) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = type;
  attr.config = config;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  const long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                          static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) {
    return errno;
  }
  close(static_cast<int>(fd));
  return 0;
}

// The word in brackets of "always [madvise] never".
std::string BracketedWord(std::string_view text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return "";
  }
  return std::string(text.substr(open + 1, close - open - 1));
}

// The value of a "key   : value" line of /proc/cpuinfo; empty when it is no such line.
std::string ValueOf(const std::string& line, std::string_view key) {
  if (!line.starts_with(key)) {
    return "";
  }
  const size_t begin = line.find_first_not_of(" \t:", key.size());
  // "model" must not take "model name".
  return begin == std::string::npos || line.find(':') >= begin ? "" : line.substr(begin);
}

void ReadCpuinfo(const std::string& path, SystemFacts& facts) {
  // Of the first CPU: x86's keys, then arm64's.
  constexpr std::array kKeys = {"model name", "cpu family", "model", "CPU implementer", "CPU part"};
  std::array<std::string, kKeys.size()> values;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("processor")) {
      ++facts.cpu_count;
    }
    if (line.starts_with("flags") && (line + " ").find(" hypervisor ") != std::string::npos) {
      facts.virtualized = true;
    }
    for (size_t i = 0; i < kKeys.size(); ++i) {
      if (values[i].empty()) {
        values[i] = ValueOf(line, kKeys[i]);
      }
    }
  }
  const auto& [name, family, model, implementer, part] = values;
  if (!name.empty() && !family.empty() && !model.empty()) {
    facts.cpu_model = name + " (family " + family + ", model " + model + ")";
  } else if (!implementer.empty() && !part.empty()) {
    facts.cpu_model = "implementer " + implementer + ", part " + part;
  } else {
    facts.cpu_model = name;
  }
}

void ReadProcessStatus(const std::string& path, SystemFacts& facts) {
  if (const auto mode = LineAfter(path, "Seccomp:")) {
    facts.seccomp_mode = ParseInt<int>(*mode);
  }
  if (const auto caps = LineAfter(path, "CapEff:")) {
    facts.effective_capabilities = ParseInt<uint64_t>(*caps, 16);
  }
  if (const auto uids = LineAfter(path, "Uid:")) {
    // Real, effective, saved, file system.
    std::istringstream words(*uids);
    int real = 0;
    int effective = 0;
    if (words >> real >> effective) {
      facts.effective_uid = effective;
    }
  }
}

std::optional<double> ReadLoadAverage(const std::string& path) {
  std::ifstream file(path);
  double load = 0;
  return file >> load ? std::optional<double>(load) : std::nullopt;
}

// Every CPU's, since one that is left out of a setting is the one that a run gets.
std::string ReadGovernors(const std::string& cpus, int cpu_count) {
  std::set<std::string> governors;
  for (int cpu = 0; cpu < std::max(cpu_count, 1); ++cpu) {
    const auto text =
        ReadTextFile(cpus + "cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor");
    if (text.has_value() && !text->empty()) {
      governors.insert(*text);
    }
  }
  std::string joined;
  for (const std::string& governor : governors) {
    joined += joined.empty() ? governor : ", " + governor;
  }
  return joined;
}

void ReadCoreTypes(const std::string& root, SystemFacts& facts) {
  facts.core_cpus = ReadTextFile(root + "sys/devices/cpu_core/cpus").value_or("");
  facts.atom_cpus = ReadTextFile(root + "sys/devices/cpu_atom/cpus").value_or("");
  std::set<int64_t, std::greater<>> capacities;
  for (int cpu = 0; cpu < facts.cpu_count; ++cpu) {
    const auto capacity = ReadIntFile<int64_t>(root + "sys/devices/system/cpu/cpu" +
                                               std::to_string(cpu) + "/cpu_capacity");
    if (capacity.has_value()) {
      capacities.insert(*capacity);
    }
  }
  facts.capacities.assign(capacities.begin(), capacities.end());
}

void ReadEnvironment(const SystemProbe& probe, SystemFacts& facts) {
  struct Variable {
    const char* name;
    bool names_file;
  };
  constexpr std::array kVariables = {
      Variable{"PAPI_CSV_EVENT_FILE", true}, Variable{"PAPI_USER_EVENTS_FILE", true},
      Variable{"LIBPFM_FORCE_PMU", false}, Variable{"LIBPFM_DISABLED_PMUS", false}};
  for (const Variable& variable : kVariables) {
    const char* value =
        probe.environment ? probe.environment(variable.name) : std::getenv(variable.name);
    if (value != nullptr) {
      facts.environment.push_back(
          {variable.name, value,
           variable.names_file ? ReadTextFile(probe.root == "/" ? value : probe.root + value)
                               : std::nullopt});
    }
  }
}

// Those that counting FLOPs, cycles and misses builds on.
std::vector<std::string> MissingEvents(const SystemProbe& probe) {
  struct Generic {
    const char* name;
    uint64_t config;
  };
  constexpr std::array kGeneric = {Generic{"cycles", PERF_COUNT_HW_CPU_CYCLES},
                                   Generic{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
                                   Generic{"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
                                   Generic{"branch-misses", PERF_COUNT_HW_BRANCH_MISSES}};
  std::vector<std::string> missing;
  for (const Generic& event : kGeneric) {
    const int error_number = probe.open_generic_event
                                 ? probe.open_generic_event(event.config)
                                 : OpenEventErrno(PERF_TYPE_HARDWARE, event.config);
    if (error_number != 0) {
      missing.emplace_back(event.name);
    }
  }
  return missing;
}

Status OpenMemoryControllers(const SystemProbe& probe, const SystemFacts& facts) {
  if (probe.open_memory_controllers) {
    return probe.open_memory_controllers();
  }
  TINYPROF_RETURN_IF_ERROR(UncoreMemoryTraffic::Open(ContextOf(facts), probe.root));
  return {};
}

void WatchMachine(const SystemProbe& probe, const std::string& root, SystemFacts& facts) {
  const auto look = [&] { return ParseCpuTicks(ReadTextFile(root + "proc/stat").value_or("")); };
  const std::map<int, CpuTicks> before = look();
  if (probe.pause) {
    probe.pause();
  } else {
    // Ten ticks of the kernel's usual clock.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const std::map<int, CpuTicks> after = look();
  if (!after.empty()) {
    facts.busy_siblings = FindBusySiblings(before, after, ReadSiblings(root));
  }
  facts.perf_users = FindPerfUsers(root);
  if (facts.hardware_event_errno == 0) {
    facts.missing_events = MissingEvents(probe);
  }
  facts.memory_controllers = OpenMemoryControllers(probe, facts);
}

}  // namespace

int OpenHardwareEventErrno() {
  const int instructions = OpenEventErrno(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  // A PMU that counts cycles alone is one, too.
  const bool counts =
      instructions == 0 || OpenEventErrno(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) == 0;
  return counts ? 0 : instructions;
}

int OpenSoftwareEventErrno() {
  return OpenEventErrno(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}

SystemFacts GatherFacts(const SystemProbe& probe) {
  const std::string root = probe.root + "/";
  const std::string proc = root + "proc/";
  const std::string cpus = root + "sys/devices/system/cpu/";
  SystemFacts facts;
  facts.hardware_event_errno =
      probe.open_hardware_event ? probe.open_hardware_event() : OpenHardwareEventErrno();
  facts.software_event_errno =
      probe.open_software_event ? probe.open_software_event() : OpenSoftwareEventErrno();
  facts.backend = probe.backend;
  facts.perf_event_paranoid = ReadIntFile<int>(proc + "sys/kernel/perf_event_paranoid");
  facts.nmi_watchdog = ReadIntFile<int>(proc + "sys/kernel/nmi_watchdog");
  ReadCpuinfo(proc + "cpuinfo", facts);
  ReadProcessStatus(proc + "self/status", facts);
  facts.governor = ReadGovernors(cpus, facts.cpu_count);
  facts.smt = ReadTextFile(cpus + "smt/control").value_or("");
  facts.huge_pages =
      BracketedWord(ReadTextFile(root + "sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
  facts.load_average = ReadLoadAverage(proc + "loadavg");
  if (const auto limit = LineAfter(proc + "self/limits", "Max open files")) {
    facts.open_files_limit = ParseInt<int64_t>(*limit);
  }
  ReadCoreTypes(root, facts);
  ReadEnvironment(probe, facts);
  if (probe.thorough) {
    WatchMachine(probe, root, facts);
  }
  return facts;
}

RefusalContext ContextOf(const SystemFacts& facts) {
  return {.hardware_event_errno = facts.hardware_event_errno,
          .perf_event_paranoid = facts.perf_event_paranoid,
          .seccomp_mode = facts.seccomp_mode,
          .effective_uid = facts.effective_uid,
          .effective_capabilities = facts.effective_capabilities,
          .nmi_watchdog = facts.nmi_watchdog,
          .open_files_limit = facts.open_files_limit,
          .threads = std::nullopt,
          .pmu = facts.backend.pmu,
          .papi_version = facts.backend.version,
          .disabled_reason = ""};
}

}  // namespace tinyprof
