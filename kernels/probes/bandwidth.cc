#include "kernels/probes/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/check.h"
#include "kernels/base/checked_math.h"
#include "kernels/probes/team_window.h"

namespace tinyprof {
namespace {

// Arrays do not start at the same offset in a page: a load whose address matches an earlier store
// in the low 12 bits would wait for it.
constexpr int64_t kArraySkewBytes = 17 * 64;
constexpr int64_t kSlackBytes = 2 * kArraySkewBytes;
constexpr int64_t kHugePageBytes = int64_t{2} << 20;
// Small working sets are walked until a trial is long beside reading the time.
constexpr int64_t kBytesPerTrial = int64_t{32} << 20;

int64_t StrideFor(int64_t bytes_per_thread) {
  const int64_t needed = bytes_per_thread + kSlackBytes;
  return (needed + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

}  // namespace

BandwidthProbe::BandwidthProbe(int threads, int64_t bytes_per_thread, int64_t stride, Buffer buffer)
    : threads_(threads),
      bytes_per_thread_(bytes_per_thread),
      stride_(stride),
      buffer_(std::move(buffer)) {}

Result<BandwidthProbe> BandwidthProbe::Create(int threads, int64_t bytes_per_thread) {
  TINYPROF_CHECK(threads > 0 && bytes_per_thread > 0);
  constexpr int64_t kMost = int64_t{1} << 46;
  const int64_t stride = StrideFor(std::min(bytes_per_thread, kMost));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t total, CheckedMul(stride, threads));
  TINYPROF_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Create(total));
  std::byte* const data = buffer.data();
  TimeOnTeam(threads, [&](int thread) {
    std::memset(data + thread * stride, 0, static_cast<size_t>(stride));
  });
  return BandwidthProbe(threads, bytes_per_thread, stride, std::move(buffer));
}

BandwidthProbe::Arrays BandwidthProbe::ArraysOf(int thread, int64_t array_bytes) {
  std::byte* const a = buffer_.data() + thread * stride_;
  std::byte* const target = a + array_bytes + kArraySkewBytes;
  return {.target = target, .a = a, .b = target + array_bytes + kArraySkewBytes};
}

int64_t BandwidthProbe::TimePasses(const MemoryLoop& loop, int64_t array_bytes, int64_t passes) {
  return TimeOnTeam(threads_, [&](int thread) {
    const Arrays arrays = ArraysOf(thread, array_bytes);
    for (int64_t pass = 0; pass < passes; ++pass) {
      loop.run(arrays.target, arrays.a, arrays.b, array_bytes);
    }
  });
}

Result<BandwidthResult> BandwidthProbe::Measure(const WorkingSet& set,
                                                std::span<const MemoryLoop* const> loops,
                                                const TrialBudget& budget) {
  TINYPROF_CHECK(!loops.empty());
  if (set.bytes_per_thread <= 0 || set.bytes_per_thread > bytes_per_thread_) {
    return Fail(ErrorCode::kInvalidArgument, "WORKING_SET_TOO_LARGE",
                fmt::format("the working set must be 1 to {} bytes a thread, got {}",
                            bytes_per_thread_, set.bytes_per_thread),
                {{"got", std::to_string(set.bytes_per_thread)},
                 {"limit", std::to_string(bytes_per_thread_)}});
  }
  const MemoryOp op = loops.front()->op;
  const int64_t arrays = ArrayCount(op);
  const int64_t array_bytes = set.bytes_per_thread / arrays / kMemoryBlockBytes * kMemoryBlockBytes;
  const int64_t pass_bytes = array_bytes * arrays;
  if (pass_bytes == 0) {
    return Fail(ErrorCode::kInvalidArgument, "WORKING_SET_TOO_SMALL",
                fmt::format("a {} needs at least {} bytes a thread, got {}", Name(op),
                            arrays * kMemoryBlockBytes, set.bytes_per_thread));
  }
  const int64_t passes = std::max<int64_t>(1, kBytesPerTrial / pass_bytes);
  const auto trial_bytes = static_cast<double>(pass_bytes * passes * threads_);
  BandwidthResult result{.level = set.level, .op = op, .threads = threads_};
  result.working_set_bytes = pass_bytes * threads_;
  TimePasses(*loops.front(), array_bytes, 1);
  std::vector<std::vector<double>> rates(loops.size());
  TrialLoop trials(budget);
  for (size_t turn = 0; trials.WantsMore(); ++turn) {
    const size_t index = turn % loops.size();
    const int64_t elapsed_ns = TimePasses(*loops[index], array_bytes, passes);
    rates[index].push_back(trial_bytes * 1e9 / static_cast<double>(elapsed_ns));
    trials.Add(rates[index].back());
  }
  for (size_t index = 0; index < loops.size(); ++index) {
    if (rates[index].empty()) continue;
    const RateSummary summary = Summarize(rates[index]);
    if (summary.best <= result.bytes_per_second.best) continue;
    result.bytes_per_second = summary;
    result.isa = loops[index]->isa;
  }
  return result;
}

}  // namespace tinyprof
