#include "daemon/counters/system_watch.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include "daemon/counters/fact_files.h"
#include "kernels/base/cpu_list.h"

namespace tinyprof {
namespace {

namespace fs = std::filesystem;

constexpr double kBusy = 0.2;

// The number that a name ends with, after `prefix`; absent when the name is not of that form.
std::optional<int> NumberAfter(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) ||
      name.find_first_not_of("0123456789", prefix.size()) != std::string_view::npos) {
    return std::nullopt;
  }
  return ParseInt<int>(name.substr(prefix.size()));
}

// Perf events among the open files of a process; absent when they cannot be seen.
std::optional<int> CountPerfEvents(const fs::path& process) {
  std::error_code error;
  fs::directory_iterator files(process / "fd", error);
  if (error) {
    return std::nullopt;
  }
  int count = 0;
  for (; files != fs::directory_iterator(); files.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(files->path(), gone).string();
    count += target == "anon_inode:[perf_event]" ? 1 : 0;
    if (error) {
      break;
    }
  }
  return count;
}

bool IsOfFamily(const fs::path& process, int pid, int family) {
  if (family == 0 || pid == family) {
    return family != 0;
  }
  const auto parent = LineAfter((process / "status").string(), "PPid:");
  return parent.has_value() && ParseInt<int>(*parent) == family;
}

double Utilisation(const CpuTicks& before, const CpuTicks& after) {
  const int64_t total = after.total - before.total;
  return total > 0 ? static_cast<double>(after.busy - before.busy) / static_cast<double>(total) : 0;
}

}  // namespace

PerfUsers FindPerfUsers(const std::string& root, int family) {
  PerfUsers found;
  std::error_code error;
  const std::string self = fs::read_symlink(root + "proc/self", error).string();
  fs::directory_iterator processes(root + "proc", error);
  for (; !error && processes != fs::directory_iterator(); processes.increment(error)) {
    const std::string name = processes->path().filename().string();
    const std::optional<int> pid = NumberAfter(name, "");
    if (!pid.has_value() || name == self) {
      continue;
    }
    const std::optional<int> count = CountPerfEvents(processes->path());
    if (!count.has_value()) {
      // A process that has ended meanwhile is none that hides its files.
      found.unreadable_processes += fs::exists(processes->path(), error) ? 1 : 0;
      error.clear();
    } else if (*count > 0 && !IsOfFamily(processes->path(), *pid, family)) {
      found.users.push_back(
          {*pid, ReadTextFile((processes->path() / "comm").string()).value_or("?"), *count});
    }
  }
  std::sort(found.users.begin(), found.users.end(),
            [](const PerfUser& a, const PerfUser& b) { return a.pid < b.pid; });
  return found;
}

std::map<int, CpuTicks> ParseCpuTicks(std::string_view proc_stat) {
  std::map<int, CpuTicks> ticks;
  std::istringstream lines{std::string(proc_stat)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string label;
    words >> label;
    const std::optional<int> cpu = NumberAfter(label, "cpu");
    if (!cpu.has_value()) {
      continue;
    }
    // user nice system idle iowait irq softirq steal; guest time is in user already.
    CpuTicks sum;
    int64_t value = 0;
    for (int field = 0; field < 8 && words >> value; ++field) {
      sum.total += value;
      sum.busy += field == 3 || field == 4 ? 0 : value;
    }
    ticks[*cpu] = sum;
  }
  return ticks;
}

std::vector<BusySibling> FindBusySiblings(const std::map<int, CpuTicks>& before,
                                          const std::map<int, CpuTicks>& after,
                                          const std::map<int, std::vector<int>>& siblings) {
  std::map<int, double> utilisation;
  for (const auto& [cpu, ticks] : after) {
    if (const auto earlier = before.find(cpu); earlier != before.end()) {
      utilisation[cpu] = Utilisation(earlier->second, ticks);
    }
  }
  std::vector<BusySibling> found;
  for (const auto& [cpu, others] : siblings) {
    for (const int other : others) {
      if (other != cpu && utilisation[other] > kBusy && utilisation[cpu] <= kBusy) {
        found.push_back({cpu, other, utilisation[other]});
      }
    }
  }
  return found;
}

std::map<int, std::vector<int>> ReadSiblings(const std::string& root) {
  std::map<int, std::vector<int>> siblings;
  std::error_code error;
  fs::directory_iterator cpus(root + "sys/devices/system/cpu", error);
  for (; !error && cpus != fs::directory_iterator(); cpus.increment(error)) {
    const std::optional<int> cpu = NumberAfter(cpus->path().filename().string(), "cpu");
    if (!cpu.has_value()) {
      continue;
    }
    const auto text = ReadTextFile((cpus->path() / "topology/thread_siblings_list").string());
    if (const auto list = ParseCpuList(text.value_or("")); list.has_value()) {
      siblings[*cpu] = *list;
    }
  }
  return siblings;
}

}  // namespace tinyprof
