#include "kernels/runtime/team.h"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tinyprof {
namespace {

// The CPUs in this process's affinity mask; empty when the system does not say.
std::vector<int> AllowedCpus() {
  constexpr int kMaxCpus = 8192;
  cpu_set_t* set = CPU_ALLOC(kMaxCpus);
  const size_t set_bytes = CPU_ALLOC_SIZE(kMaxCpus);
  std::vector<int> cpus;
  if (set != nullptr && sched_getaffinity(0, set_bytes, set) == 0) {
    for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), set_bytes, set)) cpus.push_back(cpu);
    }
  }
  if (set != nullptr) CPU_FREE(set);
  return cpus;
}

// Names the physical core of a CPU: the list of its SMT siblings, or the CPU itself where the
// system has no topology.
std::string CoreOf(int cpu) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  std::string siblings;
  if (!std::getline(file, siblings) || siblings.empty()) return std::to_string(cpu);
  return siblings;
}

// Denormals cost a hundred cycles each on some CPUs and would make one pass slower than the next.
void FlushDenormals() {
#if defined(__x86_64__)
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _mm_setcsr(_mm_getcsr() | 0x0040);  // DAZ
#elif defined(__aarch64__)
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | (uint64_t{1} << 24)));
#endif
}

bool PinThisThread(int cpu) {
  cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpu) + 1);
  if (set == nullptr) return false;
  const size_t set_bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpu) + 1);
  CPU_ZERO_S(set_bytes, set);
  CPU_SET_S(static_cast<size_t>(cpu), set_bytes, set);
  const bool pinned = sched_setaffinity(0, set_bytes, set) == 0;
  CPU_FREE(set);
  return pinned;
}

}  // namespace

std::vector<int> UsableCores() {
  std::vector<int> cores;
  std::vector<std::string> seen;
  for (const int cpu : AllowedCpus()) {
    const std::string core = CoreOf(cpu);
    bool taken = false;
    for (const std::string& other : seen) taken = taken || other == core;
    if (taken) continue;
    seen.push_back(core);
    cores.push_back(cpu);
  }
  return cores;
}

void StartTeamRuntime() { omp_get_num_procs(); }

Status PinTeam(std::span<const int> cpus, int threads) {
  if (threads < 1 || static_cast<size_t>(threads) > cpus.size()) {
    return Fail(ErrorCode::kInvalidArgument, "TOO_FEW_CPUS",
                fmt::format("{} threads need as many CPUs, got {}; ask for 1 to {} threads",
                            threads, cpus.size(), cpus.size()),
                {{"threads", std::to_string(threads)}, {"cpus", std::to_string(cpus.size())}});
  }
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  constexpr int kNone = -1;
  std::atomic<int> refused_cpu{kNone};
  std::atomic<int> team_size{0};
#pragma omp parallel num_threads(threads)
  {
    const int cpu = cpus[static_cast<size_t>(omp_get_thread_num())];
    if (cpu < 0 || !PinThisThread(cpu)) refused_cpu = cpu;
    FlushDenormals();
    ++team_size;
  }
  if (refused_cpu != kNone || team_size != threads) {
    return Fail(ErrorCode::kFailedPrecondition, "CPU_NOT_ALLOWED",
                fmt::format("the system refused CPU {} or a team of {} threads; choose CPUs inside "
                            "the process's CPU set",
                            refused_cpu.load(), threads),
                {{"cpu", std::to_string(refused_cpu)}, {"threads", std::to_string(threads)}});
  }
  return {};
}

}  // namespace tinyprof
