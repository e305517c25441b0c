#include "daemon/counters/perf/perf_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "daemon/counters/perf/perf_events.h"
#include "daemon/counters/simulated_pmu.h"
#include "daemon/counters/system_facts.h"
#include "kernels/base/check.h"

namespace tinyprof {
namespace {

constexpr size_t kMaxEvents = 32;

// One for each thread, on cache lines of its own.
struct alignas(64) ThreadSlot {
  std::vector<int> fds;  // the leader first
  // How much longer the group has been enabled than on the counters, from before it was started.
  uint64_t lag_ns = 0;
  std::array<uint64_t, kGroupHeaderWords + kMaxEvents> words{};
};

class PerfBackend final : public CounterBackend {
 public:
  PerfBackend(PerfBackendOptions options, PerfCalls& calls)
      : options_(std::move(options)),
        calls_(calls),
        slots_(static_cast<size_t>(options_.max_threads)) {
    options_.context.threads = options_.max_threads;
    info_ = {.name = PmuIsSimulated() ? kSimulatedBackend : "perf_event",
             .version = "",
             .pmu = options_.pmu,
             .unusable_reason = ""};
    if (options_.software_only) {
      info_.unusable_reason = "EVENT_UNKNOWN: only software events are counted without PAPI";
    } else if (options_.context.hardware_event_errno != 0) {
      info_.unusable_reason =
          ExplainErrno(options_.context.hardware_event_errno, options_.context).ToString();
    }
  }
  ~PerfBackend() override {
    for (ThreadSlot& slot : slots_) {
      CloseFds(slot);
    }
  }
  PerfBackend(const PerfBackend&) = delete;
  PerfBackend& operator=(const PerfBackend&) = delete;

  const BackendInfo& info() const override { return info_; }
  Status AttachThread(int) override { return {}; }

  Status OpenGroup(int thread, std::span<const std::string> events) override {
    ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(slot.fds.empty());
    if (events.empty() || events.size() > kMaxEvents) {
      return Fail(ErrorCode::kResourceExhausted, "GROUP_FULL",
                  fmt::format("a group has 1 to {} events, got {}", kMaxEvents, events.size()));
    }
    for (size_t i = 0; i < events.size(); ++i) {
      if (Status added = Add(slot, events[i]); !added.has_value()) {
        CloseFds(slot);
        return added;
      }
    }
    return {};
  }

  Status Start(int thread) override {
    ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(!slot.fds.empty());
    if (const int error = calls_.Control(slot.fds[0], PERF_EVENT_IOC_ENABLE); error != 0) {
      return Refused(ExplainEventErrno(-error, {}, options_.context), "");
    }
    const Result<uint64_t> lag_ns = ReadGroup(slot);
    if (!lag_ns.has_value()) {
      return Refused(ExplainStarvedGroup({}, options_.context), "");
    }
    slot.lag_ns = *lag_ns;
    return {};
  }

  Status Read(int thread, std::span<int64_t> values) override {
    ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(values.size() == slot.fds.size());
    TINYPROF_ASSIGN_OR_RETURN(const uint64_t lag_ns, ReadGroup(slot));
    if (lag_ns > slot.lag_ns) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST",
                  fmt::format("the group was off its counters for {} ns; the pass does not count",
                              lag_ns - slot.lag_ns));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int64_t>(slot.words[kGroupHeaderWords + i]);
    }
    return {};
  }

  Status Stop(int thread) override {
    const ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(!slot.fds.empty());
    if (const int error = calls_.Control(slot.fds[0], PERF_EVENT_IOC_DISABLE); error != 0) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST",
                  fmt::format("the kernel refuses to stop counting: {}", std::strerror(-error)));
    }
    return {};
  }

  void CloseGroup(int thread) override { CloseFds(Slot(thread)); }

 private:
  ThreadSlot& Slot(int thread) {
    TINYPROF_CHECK(thread >= 0 && static_cast<size_t>(thread) < slots_.size());
    return slots_[static_cast<size_t>(thread)];
  }

  void CloseFds(ThreadSlot& slot) {
    // The leader goes last: without it the others would be groups of their own for a moment.
    std::for_each(slot.fds.rbegin(), slot.fds.rend(), [&](int fd) { calls_.Close(fd); });
    slot.fds.clear();
  }

  static tl::unexpected<Error> Refused(const Refusal& refusal, std::string_view event) {
    return tl::unexpected<Error>(ToError(refusal, event));
  }

  Status Add(ThreadSlot& slot, const std::string& event) {
    std::optional<EventRequest> request = ResolveEvent(event, options_.resolve);
    if (request.has_value() && options_.software_only &&
        request->event.type != RawEvent::kSoftware) {
      request.reset();
    }
    if (!request.has_value()) {
      return Fail(
          ErrorCode::kFailedPrecondition, "EVENT_UNKNOWN",
          fmt::format("neither the kernel nor tinyprof knows an event {} for this CPU", event),
          {{"event", event}});
    }
    request->leader = slot.fds.empty();
    const int fd = Open(*request, slot.fds.empty() ? -1 : slot.fds[0]);
    RefusedEvent refused = {.name = event, .group_size = slot.fds.size() + 1};
    if (fd < 0) {
      refused.alone = TryAlone(*request, refused.group_size);
      return Refused(ExplainEventErrno(-fd, refused, options_.context), event);
    }
    slot.fds.push_back(fd);
    // Some drivers take a group that does not fit, or whose counters are held, and never count it.
    if (!Schedulable(slot)) {
      refused.alone = TryAlone(*request, refused.group_size);
      return Refused(ExplainStarvedGroup(refused, options_.context), event);
    }
    return {};
  }

  int Open(const EventRequest& request, int group_fd) {
    return calls_.Open(AttributesOf(request), 0, -1, group_fd);
  }

  // Whether an event that was refused in a group of `group_size` counts by itself.
  Alone TryAlone(EventRequest request, size_t group_size) {
    if (group_size == 1) {
      return Alone::kRefused;
    }
    request.leader = true;
    ThreadSlot slot;
    const int fd = Open(request, -1);
    if (fd < 0) {
      return Alone::kRefused;
    }
    slot.fds.push_back(fd);
    const bool counts = Schedulable(slot);
    CloseFds(slot);
    return counts ? Alone::kCounts : Alone::kRefused;
  }

  bool Schedulable(ThreadSlot& slot) {
    const bool counts =
        calls_.Control(slot.fds[0], PERF_EVENT_IOC_ENABLE) == 0 && ReadGroup(slot).has_value();
    return calls_.Control(slot.fds[0], PERF_EVENT_IOC_DISABLE) == 0 && counts;
  }

  // Fills slot.words and returns how much longer the group was enabled than on the counters.
  Result<uint64_t> ReadGroup(ThreadSlot& slot) {
    const size_t bytes = (kGroupHeaderWords + slot.fds.size()) * sizeof(uint64_t);
    const ssize_t got = calls_.Read(slot.fds[0], slot.words.data(), bytes);
    if (got != static_cast<ssize_t>(bytes) || slot.words[kGroupSize] != slot.fds.size()) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST",
                  got < 0 ? fmt::format("the counters cannot be read: {}; the pass does not count",
                                        std::strerror(static_cast<int>(-got)))
                          : "the kernel took the counters away; the pass does not count");
    }
    return slot.words[kEnabledNs] - slot.words[kRunningNs];
  }

  PerfBackendOptions options_;
  PerfCalls& calls_;
  BackendInfo info_;
  std::vector<ThreadSlot> slots_;
};

}  // namespace

std::unique_ptr<CounterBackend> MakePerfBackend(PerfBackendOptions options, PerfCalls& calls) {
  return std::make_unique<PerfBackend>(std::move(options), calls);
}

std::unique_ptr<CounterBackend> MakeSoftwareBackend(int max_threads) {
  return MakePerfBackend({.max_threads = max_threads,
                          .software_only = true,
                          .context = ContextOf(GatherFacts(SystemProbe{}))});
}

}  // namespace tinyprof
