#include "daemon/counters/papi/papi_backend.h"

#include <fmt/format.h>
#include <papi.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "daemon/counters/event_trials.h"
#include "daemon/counters/papi/papi_errors.h"
#include "daemon/counters/papi/papi_library.h"
#include "kernels/base/check.h"

namespace tinyprof {
namespace {

constexpr size_t kMaxEvents = 32;

// One for each thread, on cache lines of its own.
struct alignas(64) ThreadSlot {
  bool attached = false;
  bool running = false;  // its counts can be read
  int event_set = PAPI_NULL;
  int stuck_set = PAPI_NULL;  // of an earlier group, which PAPI could not stop
  size_t event_count = 0;
  std::array<long long, kMaxEvents> values{};
};

class PapiBackend final : public CounterBackend {
 public:
  explicit PapiBackend(int max_threads)
      : library_(PapiLibrary::Get()), slots_(static_cast<size_t>(max_threads)) {}

  const BackendInfo& info() const override { return library_.info(); }

  Status AttachThread(int thread) override {
    ThreadSlot& slot = Slot(thread);
    if (!slot.attached) {
      TINYPROF_RETURN_IF_ERROR(library_.RegisterThread());
      slot.attached = true;
    }
    return {};
  }

  Status OpenGroup(int thread, std::span<const std::string> events) override {
    TINYPROF_RETURN_IF_ERROR(library_.ready());
    ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(slot.attached && slot.event_set == PAPI_NULL);
    if (events.empty() || events.size() > kMaxEvents) {
      return Fail(ErrorCode::kResourceExhausted, "GROUP_FULL",
                  fmt::format("a group has 1 to {} events, got {}", kMaxEvents, events.size()));
    }
    TINYPROF_RETURN_IF_ERROR(LeaveStuckSet(slot));
    if (const int code = PAPI_create_eventset(&slot.event_set); code != PAPI_OK) {
      return Failed(code, PapiCall::kOther);
    }
    for (size_t i = 0; i < events.size(); ++i) {
      if (Status added = Add(slot, events.first(i + 1)); !added.has_value()) {
        CloseGroup(thread);
        return added;
      }
    }
    slot.event_count = events.size();
    return {};
  }

  Status Start(int thread) override {
    ThreadSlot& slot = Slot(thread);
    if (const int code = PAPI_start(slot.event_set); code != PAPI_OK) {
      return Failed(code, PapiCall::kStart);
    }
    slot.running = true;
    return {};
  }

  Status Read(int thread, std::span<int64_t> values) override {
    ThreadSlot& slot = Slot(thread);
    TINYPROF_CHECK(values.size() == slot.event_count);
    // PAPI reads a set that could not be started as zeros, without an error.
    if (!slot.running) {
      return Failed(PAPI_ECLOST, PapiCall::kRead);
    }
    // A read that failed inside PAPI can answer OK and leave the buffer as it was.
    std::fill_n(slot.values.begin(), slot.event_count, kUntouched);
    if (const int code = PAPI_read(slot.event_set, slot.values.data()); code != PAPI_OK) {
      return Failed(code, PapiCall::kRead);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = slot.values[i];
      if (values[i] == kUntouched) {
        return Failed(PAPI_ECLOST, PapiCall::kRead);
      }
    }
    return {};
  }

  Status Stop(int thread) override {
    ThreadSlot& slot = Slot(thread);
    slot.running = false;
    if (const int code = PAPI_stop(slot.event_set, slot.values.data()); code != PAPI_OK) {
      return Failed(code, PapiCall::kStop);
    }
    return {};
  }

  void CloseGroup(int thread) override {
    ThreadSlot& slot = Slot(thread);
    if (slot.event_set == PAPI_NULL) {
      return;
    }
    if (!Dismantle(slot.event_set)) {
      slot.stuck_set = slot.event_set;
    }
    slot.running = false;
    slot.event_set = PAPI_NULL;
    slot.event_count = 0;
  }

 private:
  ThreadSlot& Slot(int thread) {
    TINYPROF_CHECK(thread >= 0 && static_cast<size_t>(thread) < slots_.size());
    return slots_[static_cast<size_t>(thread)];
  }

  // False when PAPI cannot stop the set: it reads before it stops, which fails for ever when the
  // counters were lost.
  static bool Dismantle(int event_set) {
    std::array<long long, kMaxEvents> unused;
    int state = 0;
    if (PAPI_state(event_set, &state) == PAPI_OK && (state & PAPI_RUNNING) != 0) {
      PAPI_stop(event_set, unused.data());
    }
    if (PAPI_cleanup_eventset(event_set) != PAPI_OK) {
      return false;
    }
    PAPI_destroy_eventset(&event_set);
    return true;
  }

  // While a set runs, PAPI starts no other on its thread. One that cannot be stopped even now is
  // left behind, with its files open, and PAPI made to take the thread for a new one.
  Status LeaveStuckSet(ThreadSlot& slot) {
    const int stuck_set = std::exchange(slot.stuck_set, PAPI_NULL);
    if (stuck_set == PAPI_NULL || Dismantle(stuck_set)) {
      return {};
    }
    if (const int code = PAPI_unregister_thread(); code != PAPI_OK) {
      return Failed(code, PapiCall::kOther);
    }
    return library_.RegisterThread();
  }

  // Adds the last event of `group`, whose others have been added.
  Status Add(ThreadSlot& slot, std::span<const std::string> group) {
    const std::string& event = group.back();
    TINYPROF_ASSIGN_OR_RETURN(const int event_code, library_.EventCode(event));
    if (const int code = PAPI_add_event(slot.event_set, event_code); code != PAPI_OK) {
      return Failed(code, PapiCall::kAdd,
                    {.name = event,
                     .group_size = group.size(),
                     .alone = group.size() == 1 ? Alone::kRefused : TryAlone(event_code)});
    }
    return {};
  }

  // The codes for "does not fit" are those for "cannot be counted": a set of its own tells.
  static Alone TryAlone(int event_code) {
    int event_set = PAPI_NULL;
    if (PAPI_create_eventset(&event_set) != PAPI_OK) {
      return Alone::kNotTried;
    }
    const int code = PAPI_add_event(event_set, event_code);
    PAPI_cleanup_eventset(event_set);
    PAPI_destroy_eventset(&event_set);
    return code == PAPI_OK ? Alone::kCounts : Alone::kRefused;
  }

  tl::unexpected<Error> Failed(int papi_code, PapiCall call, const RefusedEvent& event = {}) {
    RefusalContext context = library_.context();
    context.threads = static_cast<int>(slots_.size());
    if (papi_code == PAPI_ESYS && (call == PapiCall::kAdd || call == PapiCall::kStart)) {
      context.hardware_event_errno = OpenHardwareEventErrno();
    }
    return tl::unexpected<Error>(PapiError(papi_code, call, event, context));
  }

  PapiLibrary& library_;
  std::vector<ThreadSlot> slots_;
};

}  // namespace

std::unique_ptr<CounterBackend> MakePapiBackend(int max_threads) {
  return std::make_unique<PapiBackend>(max_threads);
}

}  // namespace tinyprof
