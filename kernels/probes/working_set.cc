#include "kernels/probes/working_set.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "kernels/base/check.h"

namespace tinyprof {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kSharedCacheLimit = 32 * kMiB;
constexpr int64_t kMinDramBytes = 256 * kMiB;
constexpr int64_t kMaxDramBytes = 512 * kMiB;

int64_t RoundDown(int64_t bytes) { return bytes / kWorkingSetGranule * kWorkingSetGranule; }

int64_t ThreadsSharing(const Cache& cache, std::span<const int> team_cpus) {
  const auto shares = [&](int cpu) {
    return std::find(cache.cpus.begin(), cache.cpus.end(), cpu) != cache.cpus.end();
  };
  return std::max<int64_t>(1, std::count_if(team_cpus.begin(), team_cpus.end(), shares));
}

std::optional<MemoryLevel> LevelOf(const Cache& cache) {
  switch (cache.level) {
    case 1:
      return MemoryLevel::kL1;
    case 2:
      return MemoryLevel::kL2;
    case 3:
      return MemoryLevel::kL3;
    default:
      return std::nullopt;
  }
}

// `last_bytes` is all of the team's outermost caches.
std::optional<WorkingSet> PlanDram(int64_t last_bytes, int64_t threads, int64_t available_bytes) {
  const int64_t wanted =
      std::min(std::max(4 * last_bytes, kMinDramBytes), std::max(2 * last_bytes, kMaxDramBytes));
  const int64_t total = std::min(wanted, available_bytes / 2);
  if (total < std::min(2 * last_bytes, kMinDramBytes)) return std::nullopt;
  const int64_t share = RoundDown(total / threads);
  if (share == 0) return std::nullopt;
  return WorkingSet{MemoryLevel::kDram, share};
}

}  // namespace

std::string_view Name(MemoryLevel level) {
  switch (level) {
    case MemoryLevel::kL1:
      return "L1";
    case MemoryLevel::kL2:
      return "L2";
    case MemoryLevel::kL3:
      return "L3";
    case MemoryLevel::kDram:
      return "DRAM";
  }
  return "unknown";
}

std::vector<WorkingSet> PlanWorkingSets(std::span<const Cache> caches,
                                        std::span<const int> team_cpus, int64_t available_bytes) {
  TINYPROF_CHECK(!team_cpus.empty());
  const auto threads = static_cast<int64_t>(team_cpus.size());
  std::vector<WorkingSet> plan;
  int64_t inner_share = 0;
  int64_t last_bytes = 0;
  for (const Cache& cache : caches) {
    const std::optional<MemoryLevel> level = LevelOf(cache);
    if (!level) continue;
    const int64_t sharing = ThreadsSharing(cache, team_cpus);
    int64_t share = cache.byte_size / 2 / sharing;
    if (level == MemoryLevel::kL3) {
      share = std::min(share, std::max(kSharedCacheLimit / sharing, 2 * inner_share));
    }
    share = RoundDown(share);
    if (share > 0 && share >= RoundDown(2 * inner_share)) plan.push_back({*level, share});
    inner_share = cache.byte_size / sharing;
    last_bytes = cache.byte_size * ((threads + sharing - 1) / sharing);
  }
  if (const auto dram = PlanDram(last_bytes, threads, available_bytes)) plan.push_back(*dram);
  return plan;
}

}  // namespace tinyprof
