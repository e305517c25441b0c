#include "daemon/counters/system_facts.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#include "daemon/counters/event_trials.h"
#include "daemon/counters/fact_files.h"
#include "daemon/counters/perf/uncore.h"

namespace tinyprof {
namespace {

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
  facts.cpu_family = FamilyOf(ParseCpuinfo(ReadTextFile(path).value_or("")));
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

std::string ReadGovernors(const std::string& cpus, const std::vector<int>& of_cpus) {
  std::set<std::string> governors;
  for (const int cpu : of_cpus) {
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

// Where any may measure, one that is left out of a setting is the one that a run gets.
std::vector<int> CpusOfInterest(const SystemFacts& facts) {
  if (!facts.measurement_cpus.empty()) {
    return facts.measurement_cpus;
  }
  std::vector<int> all(static_cast<size_t>(std::max(facts.cpu_count, 1)));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::string FindContainer(const std::string& root) {
  struct Mark {
    const char* path;
    const char* container;
  };
  constexpr std::array kMarks = {Mark{"var/run/secrets/kubernetes.io", "kubernetes"},
                                 Mark{"run/.containerenv", "podman"}, Mark{".dockerenv", "docker"}};
  std::error_code error;
  for (const Mark& mark : kMarks) {
    if (std::filesystem::exists(root + mark.path, error)) {
      return mark.container;
    }
  }
  return "";
}

void ReadCoreTypes(const std::string& root, SystemFacts& facts) {
  facts.core_cpus = ReadTextFile(root + "sys/devices/cpu_core/cpus").value_or("");
  facts.atom_cpus = ReadTextFile(root + "sys/devices/cpu_atom/cpus").value_or("");
  std::set<int64_t, std::greater<>> capacities;
  for (const int cpu : CpusOfInterest(facts)) {
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
    if (value == nullptr) {
      continue;
    }
    NamedFile file;
    if (variable.names_file && *value != '\0') {
      file = ReadNamedFile(probe.root == "/" ? value : probe.root + value);
    }
    facts.environment.push_back({variable.name, value, std::move(file.text), std::move(file.kind)});
  }
}

// The process's own limit can be had without a file, also when files have run out.
std::optional<int64_t> ReadOpenFilesLimit(const SystemProbe& probe) {
  if (probe.root != "/") {
    const auto limit = LineAfter(probe.root + "/proc/self/limits", "Max open files");
    return limit.has_value() ? ParseInt<int64_t>(*limit) : std::nullopt;
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT64_MAX) {
    return std::nullopt;
  }
  return static_cast<int64_t>(limit.rlim_cur);
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
  facts.perf_users = FindPerfUsers(root, probe.daemon_pid);
  if (facts.events_off.has_value()) {
    return;
  }
  if (facts.hardware_event_errno == 0) {
    facts.missing_events = MissingEvents(probe);
  }
  facts.memory_controllers = OpenMemoryControllers(probe, facts);
}

}  // namespace

SystemFacts GatherFacts(const SystemProbe& probe) {
  const std::string root = probe.root + "/";
  const std::string proc = root + "proc/";
  const std::string cpus = root + "sys/devices/system/cpu/";
  SystemFacts facts;
  TryEvents(probe, facts);
  facts.backend = probe.backend;
  facts.measurement_cpus = probe.measurement_cpus;
  facts.container = FindContainer(root);
  const std::string paranoid = proc + "sys/kernel/perf_event_paranoid";
  facts.perf_event_paranoid = ReadIntFile<int>(paranoid);
  // A file can be there although none can be opened just now.
  std::error_code error;
  facts.has_paranoid_file =
      facts.perf_event_paranoid.has_value() || std::filesystem::exists(paranoid, error);
  facts.system_files_limit = ReadIntFile<int64_t>(proc + "sys/fs/file-max");
  facts.nmi_watchdog = ReadIntFile<int>(proc + "sys/kernel/nmi_watchdog");
  ReadCpuinfo(proc + "cpuinfo", facts);
  ReadProcessStatus(proc + "self/status", facts);
  facts.governor = ReadGovernors(cpus, CpusOfInterest(facts));
  facts.smt = ReadTextFile(cpus + "smt/control").value_or("");
  facts.huge_pages =
      BracketedWord(ReadTextFile(root + "sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
  facts.load_average = ReadLoadAverage(proc + "loadavg");
  facts.open_files_limit = ReadOpenFilesLimit(probe);
  ReadCoreTypes(root, facts);
  ReadEnvironment(probe, facts);
  if (probe.thorough) {
    WatchMachine(probe, root, facts);
  }
  return facts;
}

bool NamesFile(const EnvironmentFact& variable) {
  return variable.name.ends_with("_FILE") && !variable.value.empty();
}

RefusalContext ContextOf(const SystemFacts& facts) {
  return {.hardware_event_errno = facts.hardware_event_errno,
          .perf_event_paranoid = facts.perf_event_paranoid,
          .seccomp_mode = facts.seccomp_mode,
          .call_reaches_kernel = facts.call_reaches_kernel,
          .container = facts.container,
          .effective_uid = facts.effective_uid,
          .effective_capabilities = facts.effective_capabilities,
          .nmi_watchdog = facts.nmi_watchdog,
          .open_files_limit = facts.open_files_limit,
          .system_files_limit = facts.system_files_limit,
          .threads = std::nullopt,
          .pmu = facts.backend.pmu,
          .papi_version = facts.backend.version,
          .disabled_reason = "",
          .events_off = facts.events_off};
}

}  // namespace tinyprof
