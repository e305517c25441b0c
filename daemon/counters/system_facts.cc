#include "daemon/counters/system_facts.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

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

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return std::nullopt;
  }
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

template <class T>
std::optional<T> ParseInt(std::string_view text, int base = 10) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  T value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return parsed.ec == std::errc() ? std::optional<T>(value) : std::nullopt;
}

template <class T>
std::optional<T> ReadInt(const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  return text.has_value() ? ParseInt<T>(*text) : std::nullopt;
}

// The rest of the first line that begins with `key`, or nothing.
std::optional<std::string> LineAfter(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      return line.substr(key.size());
    }
  }
  return std::nullopt;
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

void ReadCpuinfo(const std::string& path, SystemFacts& facts) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("processor")) {
      ++facts.cpu_count;
    }
    if (line.starts_with("flags") && (line + " ").find(" hypervisor ") != std::string::npos) {
      facts.virtualized = true;
    }
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

}  // namespace

int OpenHardwareEventErrno() {
  return OpenEventErrno(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

int OpenSoftwareEventErrno() {
  return OpenEventErrno(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}

SystemFacts GatherFacts(const SystemProbe& probe) {
  const std::string proc = probe.root + "/proc/";
  const std::string cpus = probe.root + "/sys/devices/system/cpu/";
  SystemFacts facts;
  facts.hardware_event_errno =
      probe.open_hardware_event ? probe.open_hardware_event() : OpenHardwareEventErrno();
  facts.software_event_errno =
      probe.open_software_event ? probe.open_software_event() : OpenSoftwareEventErrno();
  facts.backend = probe.backend;
  facts.perf_event_paranoid = ReadInt<int>(proc + "sys/kernel/perf_event_paranoid");
  facts.nmi_watchdog = ReadInt<int>(proc + "sys/kernel/nmi_watchdog");
  ReadCpuinfo(proc + "cpuinfo", facts);
  ReadProcessStatus(proc + "self/status", facts);
  facts.governor = ReadFile(cpus + "cpu0/cpufreq/scaling_governor").value_or("");
  facts.smt = ReadFile(cpus + "smt/control").value_or("");
  facts.huge_pages = BracketedWord(
      ReadFile(probe.root + "/sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
  facts.load_average = ReadLoadAverage(proc + "loadavg");
  if (const auto limit = LineAfter(proc + "self/limits", "Max open files")) {
    facts.open_files_limit = ParseInt<int64_t>(*limit);
  }
  return facts;
}

}  // namespace tinyprof
