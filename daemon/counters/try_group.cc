#include "daemon/counters/try_group.h"

#include <fmt/format.h>

#include <array>

namespace tinyprof {
namespace {

// Closes the group of thread 0 when it goes.
class OpenGroupGuard {
 public:
  explicit OpenGroupGuard(CounterBackend& backend) : backend_(backend) {}
  ~OpenGroupGuard() { backend_.CloseGroup(0); }
  OpenGroupGuard(const OpenGroupGuard&) = delete;
  OpenGroupGuard& operator=(const OpenGroupGuard&) = delete;

 private:
  CounterBackend& backend_;
};

// A round is a call of its own, so that the instructions around the work are the same in each.
[[gnu::noinline]] Status WorkAndRead(CounterBackend& backend,
                                     const std::function<void(int64_t)>& work, int64_t n,
                                     std::vector<int64_t>& values) {
  work(n);
  return backend.Read(0, values);
}

}  // namespace

Status TryGroup(CounterBackend& backend, std::span<const std::string> events) {
  std::vector<int64_t> values(events.size(), CounterBackend::kUntouched);
  TINYPROF_RETURN_IF_ERROR(backend.AttachThread(0));
  TINYPROF_RETURN_IF_ERROR(backend.OpenGroup(0, events));
  const OpenGroupGuard guard(backend);
  TINYPROF_RETURN_IF_ERROR(backend.Start(0));
  TINYPROF_RETURN_IF_ERROR(backend.Read(0, values));
  return backend.Stop(0);
}

Result<std::vector<int64_t>> CountWork(CounterBackend& backend, std::span<const std::string> events,
                                       const std::function<void(int64_t)>& work, int64_t n) {
  std::array<std::vector<int64_t>, 3> reads;
  reads.fill(std::vector<int64_t>(events.size(), CounterBackend::kUntouched));
  // The first round binds symbols and warms caches; what it costs is not looked at.
  const std::array<int64_t, 3> doses = {1, n, 2 * n};
  TINYPROF_RETURN_IF_ERROR(backend.AttachThread(0));
  TINYPROF_RETURN_IF_ERROR(backend.OpenGroup(0, events));
  const OpenGroupGuard guard(backend);
  TINYPROF_RETURN_IF_ERROR(backend.Start(0));
  for (size_t round = 0; round < doses.size(); ++round) {
    TINYPROF_RETURN_IF_ERROR(WorkAndRead(backend, work, doses[round], reads[round]));
  }
  TINYPROF_RETURN_IF_ERROR(backend.Stop(0));
  std::vector<int64_t> counts(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    if (reads[1][i] < reads[0][i] || reads[2][i] < reads[1][i]) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST",
                  fmt::format("the count of {} ran backwards", events[i]), {{"event", events[i]}});
    }
    counts[i] = (reads[2][i] - reads[1][i]) - (reads[1][i] - reads[0][i]);
  }
  return counts;
}

}  // namespace tinyprof
