#include "daemon/measure/team_counters.h"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "kernels/base/check.h"

namespace tinyprof {

TeamCounters::TeamCounters(CounterBackend& backend, int threads)
    : backend_(backend), threads_(threads), statuses_(static_cast<size_t>(threads)) {}

template <class Call>
Status TeamCounters::OnEachThread(const Call& call) {
  if (threads_ == 1) {
    return call(0);
  }
#pragma omp parallel num_threads(threads_)
  {
    const int thread = omp_get_thread_num();
    statuses_[static_cast<size_t>(thread)] = call(thread);
  }
  for (const Status& status : statuses_) {
    TINYPROF_RETURN_IF_ERROR(status);
  }
  return {};
}

Status TeamCounters::Open(std::span<const std::string> events) {
  Status opened = OnEachThread([&](int thread) -> Status {
    TINYPROF_RETURN_IF_ERROR(backend_.AttachThread(thread));
    TINYPROF_RETURN_IF_ERROR(backend_.OpenGroup(thread, events));
    return backend_.Start(thread);
  });
  event_count_ = events.size();
  if (!opened.has_value()) {
    Close();
  }
  return opened;
}

void TeamCounters::Close() {
  if (event_count_ == 0) {
    return;
  }
  event_count_ = 0;
  const Status closed = OnEachThread([&](int thread) -> Status {
    backend_.CloseGroup(thread);
    return {};
  });
  TINYPROF_CHECK(closed.has_value());
}

Status TeamCounters::Read(std::span<int64_t> values) {
  TINYPROF_CHECK(values.size() == value_count());
  std::fill(values.begin(), values.end(), CounterBackend::kUntouched);
  return OnEachThread([&](int thread) -> Status {
    return backend_.Read(thread,
                         values.subspan(static_cast<size_t>(thread) * event_count_, event_count_));
  });
}

Result<std::vector<double>> TeamCounters::ThreadReadCostNs(Clock& clock, int reads) {
  std::vector<int64_t> values(value_count(), CounterBackend::kUntouched);
  std::vector<double> cost_ns(static_cast<size_t>(threads_));
  Status timed = OnEachThread([&](int thread) -> Status {
    const auto own =
        std::span(values).subspan(static_cast<size_t>(thread) * event_count_, event_count_);
    const int64_t begin_ns = clock.NowNs();
    for (int i = 0; i < reads; ++i) {
      TINYPROF_RETURN_IF_ERROR(backend_.Read(thread, own));
    }
    cost_ns[static_cast<size_t>(thread)] = static_cast<double>(clock.NowNs() - begin_ns) / reads;
    return {};
  });
  TINYPROF_RETURN_IF_ERROR(std::move(timed));
  return cost_ns;
}

std::vector<int> TeamCounters::Cpus(const std::function<int()>& current_cpu) {
  std::vector<int> cpus(static_cast<size_t>(threads_));
  const Status asked = OnEachThread([&](int thread) -> Status {
    cpus[static_cast<size_t>(thread)] = current_cpu();
    return {};
  });
  TINYPROF_CHECK(asked.has_value());
  return cpus;
}

}  // namespace tinyprof
