#include "daemon/rpc/affinity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "daemon/ops/values.h"
#include "kernels/base/cpu_list.h"
#include "kernels/runtime/team.h"

namespace tinyprof {
namespace {

constexpr int kMaxCpus = 4096;
constexpr size_t kSetBytes = CPU_ALLOC_SIZE(kMaxCpus);

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;

CpuSet MakeCpuSet(std::span<const int> cpus) {
  CpuSet set(CPU_ALLOC(kMaxCpus));
  CPU_ZERO_S(kSetBytes, set.get());
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), kSetBytes, set.get());
  return set;
}

bool Contains(std::span<const int> cpus, int cpu) {
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

std::vector<int> AllowedCpus() {
  const CpuSet set = MakeCpuSet({});
  std::vector<int> cpus;
  if (sched_getaffinity(0, kSetBytes, set.get()) != 0) return cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (CPU_ISSET_S(static_cast<size_t>(cpu), kSetBytes, set.get())) cpus.push_back(cpu);
  }
  return cpus;
}

// The CPUs that share a core with `cpu`; itself alone where the kernel does not say.
std::vector<int> SiblingsOf(int cpu) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  std::string text;
  std::getline(file, text);
  return ParseCpuList(text).value_or(std::vector<int>{cpu});
}

// The CPUs of `from` for which `keep` holds.
template <class Keep>
std::vector<int> Filter(std::span<const int> from, Keep&& keep) {
  std::vector<int> kept;
  std::copy_if(from.begin(), from.end(), std::back_inserter(kept), keep);
  return kept;
}

}  // namespace

Result<CpuSplit> SplitCpus(std::span<const int> asked, std::span<const int> cores,
                           std::span<const int> allowed,
                           const std::vector<std::vector<int>>& siblings) {
  CpuSplit split;
  for (const int cpu : asked) {
    if (Contains(allowed, cpu)) continue;
    return Fail(ErrorCode::kFailedPrecondition, "CPU_NOT_ALLOWED",
                fmt::format("cpus names CPU {}, but this process may only use {}", cpu,
                            fmt::join(allowed, ",")),
                {{"cpu", std::to_string(cpu)}});
  }
  const std::span<const int> chosen = cores.size() > 1 ? cores.subspan(1) : cores;
  const std::span<const int> measurement = asked.empty() ? chosen : asked;
  split.measurement.assign(measurement.begin(), measurement.end());
  const std::vector<int> others =
      Filter(allowed, [&](int cpu) { return !Contains(measurement, cpu); });
  const std::vector<int> apart = Filter(others, [&](int cpu) {
    return std::none_of(siblings.begin(), siblings.end(), [&](const std::vector<int>& core) {
      return Contains(core, cpu) && std::any_of(core.begin(), core.end(), [&](int sibling) {
               return Contains(measurement, sibling);
             });
    });
  });
  split.housekeeping = !apart.empty() ? apart : others;
  if (split.housekeeping.empty()) split.housekeeping.assign(allowed.begin(), allowed.end());
  return split;
}

Result<CpuSplit> SplitCpusOfThisMachine(std::span<const int> asked) {
  const std::vector<int> allowed = AllowedCpus();
  std::vector<std::vector<int>> siblings;
  for (const int cpu : allowed) siblings.push_back(SiblingsOf(cpu));
  return SplitCpus(asked, UsableCores(), allowed, siblings);
}

Status BindThread(std::span<const int> cpus) {
  const CpuSet set = MakeCpuSet(cpus);
  if (sched_setaffinity(0, kSetBytes, set.get()) == 0) return {};
  return Fail(
      ErrorCode::kFailedPrecondition, "CPU_NOT_ALLOWED",
      fmt::format("cannot move to CPUs {}: {}", fmt::join(cpus, ","), std::strerror(errno)));
}

}  // namespace tinyprof
