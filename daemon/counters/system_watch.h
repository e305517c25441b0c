// What the rest of the machine does: who holds perf events, and which CPUs are busy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tinyprof {

struct PerfUser {
  int pid = 0;
  std::string program;
  int event_count = 0;
  friend bool operator==(const PerfUser&, const PerfUser&) = default;
};

struct PerfUsers {
  std::vector<PerfUser> users;   // by pid
  int unreadable_processes = 0;  // whose open files only root may see
};

// Looks through proc/*/fd below `root`, which ends with '/'. This process is left out, and so are
// the process `family` and its children; 0: none.
PerfUsers FindPerfUsers(const std::string& root, int family = 0);

// Ticks since boot of one CPU.
struct CpuTicks {
  int64_t busy = 0;
  int64_t total = 0;
};
// By CPU, from the text of /proc/stat.
std::map<int, CpuTicks> ParseCpuTicks(std::string_view proc_stat);

// A CPU whose sibling, which shares its core, was busy.
struct BusySibling {
  int cpu = 0;
  int sibling = 0;
  double utilisation = 0;  // of the sibling, 0 to 1
};

// Pairs whose one CPU was busier than a fifth between two looks at /proc/stat and whose other CPU
// was not. `siblings`: by CPU, the CPUs of its core, itself included.
std::vector<BusySibling> FindBusySiblings(const std::map<int, CpuTicks>& before,
                                          const std::map<int, CpuTicks>& after,
                                          const std::map<int, std::vector<int>>& siblings);

// The CPUs of each CPU's core, itself included, from sys/devices/system/cpu below `root`.
std::map<int, std::vector<int>> ReadSiblings(const std::string& root);

}  // namespace tinyprof
