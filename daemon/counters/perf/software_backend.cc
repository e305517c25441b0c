#include "daemon/counters/perf/software_backend.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "daemon/counters/counter_errors.h"
#include "daemon/counters/software_events.h"
#include "kernels/base/check.h"

namespace tinyprof {
namespace {

constexpr std::array<uint64_t, kSoftwareEvents.size()> kConfigs = {
    PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES,
    PERF_COUNT_SW_CPU_MIGRATIONS};

struct alignas(64) ThreadSlot {
  std::vector<int> fds;
  // As read(2) fills it for a group: the number of events, then their values.
  std::array<uint64_t, kSoftwareEvents.size() + 1> group{};
};

int OpenEvent(uint64_t config, bool count_kernel, int group_fd) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  attr.disabled = group_fd < 0;
  attr.exclude_kernel = !count_kernel;
  attr.exclude_hv = 1;
  attr.read_format = PERF_FORMAT_GROUP;
  const long fd = syscall(SYS_perf_event_open, &attr, 0, -1, group_fd,
                          static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
  return static_cast<int>(fd);
}

class SoftwareBackend final : public CounterBackend {
 public:
  explicit SoftwareBackend(int max_threads) : slots_(static_cast<size_t>(max_threads)) {
    info_.name = "perf_event";
    info_.unusable_reason = "EVENT_UNKNOWN: only software events are counted without PAPI";
  }
  ~SoftwareBackend() override {
    for (ThreadSlot& slot : slots_) {
      CloseFds(slot);
    }
  }
  SoftwareBackend(const SoftwareBackend&) = delete;
  SoftwareBackend& operator=(const SoftwareBackend&) = delete;

  const BackendInfo& info() const override { return info_; }
  Status AttachThread(int) override { return {}; }

  Status OpenGroup(int thread, std::span<const std::string> events) override {
    ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(slot.fds.empty() && !events.empty());
    for (const std::string& event : events) {
      if (Status opened = Open(slot, event); !opened.has_value()) {
        CloseFds(slot);
        return opened;
      }
    }
    return {};
  }

  Status Start(int thread) override { return Control(thread, PERF_EVENT_IOC_ENABLE); }
  Status Stop(int thread) override { return Control(thread, PERF_EVENT_IOC_DISABLE); }

  Status Read(int thread, std::span<int64_t> values) override {
    ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(values.size() == slot.fds.size());
    const size_t wanted_bytes = (values.size() + 1) * sizeof(uint64_t);
    const ssize_t got = read(slot.fds[0], slot.group.data(), wanted_bytes);
    if (got != static_cast<ssize_t>(wanted_bytes) || slot.group[0] != values.size()) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST",
                  "the kernel no longer gives the counts of its software events");
    }
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int64_t>(slot.group[i + 1]);
    }
    return {};
  }

  void CloseGroup(int thread) override { CloseFds(Slot(thread)); }

 private:
  ThreadSlot& Slot(int thread) {
    TINYPROF_CHECK(thread >= 0 && static_cast<size_t>(thread) < slots_.size());
    return slots_[static_cast<size_t>(thread)];
  }

  static void CloseFds(ThreadSlot& slot) {
    // The leader goes last: without it the others would be groups of their own for a moment.
    std::for_each(slot.fds.rbegin(), slot.fds.rend(), [](int fd) { close(fd); });
    slot.fds.clear();
  }

  static Status Open(ThreadSlot& slot, const std::string& event) {
    const auto known = std::find_if(kSoftwareEvents.begin(), kSoftwareEvents.end(),
                                    [&](const SoftwareEvent& e) { return e.event == event; });
    if (known == kSoftwareEvents.end()) {
      return Fail(ErrorCode::kFailedPrecondition, "EVENT_UNKNOWN",
                  fmt::format("the kernel has no software event {}", event), {{"event", event}});
    }
    const auto index = static_cast<size_t>(known - kSoftwareEvents.begin());
    const bool count_kernel = known->event.ends_with(":k=1");
    const int fd = OpenEvent(kConfigs[index], count_kernel, slot.fds.empty() ? -1 : slot.fds[0]);
    if (fd < 0) {
      const Refusal refusal = ExplainErrno(errno, {});
      return Fail(ErrorCode::kFailedPrecondition, refusal.reason,
                  fmt::format("{} is refused: {}", event, refusal.sentence), {{"event", event}});
    }
    slot.fds.push_back(fd);
    return {};
  }

  Status Control(int thread, unsigned long request) {
    const ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(!slot.fds.empty());
    if (ioctl(slot.fds[0], request, PERF_IOC_FLAG_GROUP) != 0) {
      return Fail(ErrorCode::kAborted, "COUNTERS_LOST",
                  fmt::format("the kernel refuses to switch its software events: {}",
                              std::strerror(errno)));
    }
    return {};
  }

  BackendInfo info_;
  std::vector<ThreadSlot> slots_;
};

}  // namespace

std::unique_ptr<CounterBackend> MakeSoftwareBackend(int max_threads) {
  return std::make_unique<SoftwareBackend>(max_threads);
}

}  // namespace tinyprof
