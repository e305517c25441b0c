#include "daemon/counters/perf/uncore.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "kernels/base/check.h"

namespace tinyprof {
namespace {

// Of the whole CPU, which has no modes to leave out: such PMUs refuse the exclude flags.
perf_event_attr AttributesOf(const MemoryPmu& pmu, const UncoreEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = pmu.type;
  attributes.config = event.config;
  attributes.config1 = event.config1;
  attributes.config2 = event.config2;
  attributes.pinned = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attributes;
}

Refusal Explain(int error_number, const RefusedEvent& event, const RefusalContext& context) {
  if (context.events_off.has_value() || (error_number != EACCES && error_number != EPERM)) {
    return ExplainEventErrno(error_number, event, context);
  }
  Refusal refusal = ExplainErrno(error_number, context);
  if (refusal.reason != "SECCOMP") {
    refusal.reason = "PERMISSION";
    refusal.sentence =
        "memory controllers count for all programs of a socket, which takes perf_event_paranoid 0 "
        "or CAP_PERFMON; " +
        refusal.sentence;
    refusal.fix = "sudo sysctl kernel.perf_event_paranoid=0";
  }
  return refusal;
}

tl::unexpected<Error> Lost(const std::string& message) {
  return Fail(ErrorCode::kAborted, "COUNTERS_LOST", message);
}

}  // namespace

Result<std::unique_ptr<UncoreMemoryTraffic>> UncoreMemoryTraffic::Open(
    const RefusalContext& context, const std::string& root, PerfCalls& calls) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<MemoryPmu> pmus, FindMemoryPmus(root));
  std::unique_ptr<UncoreMemoryTraffic> traffic(new UncoreMemoryTraffic(calls));
  for (const MemoryPmu& pmu : pmus) {
    for (const int cpu : pmu.cpus) {
      for (const UncoreEvent& event : pmu.reads) {
        TINYPROF_RETURN_IF_ERROR(traffic->Add(pmu, event, cpu, false, context));
      }
      for (const UncoreEvent& event : pmu.writes) {
        TINYPROF_RETURN_IF_ERROR(traffic->Add(pmu, event, cpu, true, context));
      }
    }
  }
  return traffic;
}

UncoreMemoryTraffic::~UncoreMemoryTraffic() {
  for (const Counter& counter : counters_) {
    calls_.Close(counter.fd);
  }
}

Status UncoreMemoryTraffic::Add(const MemoryPmu& pmu, const UncoreEvent& event, int cpu, bool write,
                                const RefusalContext& context) {
  const std::string name = fmt::format("{}/{}/ on CPU {}", pmu.name, event.name, cpu);
  const RefusedEvent refused = {.name = name, .group_size = counters_.size() + 1};
  const int fd = calls_.Open(AttributesOf(pmu, event), -1, cpu, -1);
  if (fd < 0) {
    return tl::unexpected<Error>(ToError(Explain(-fd, refused, context), name));
  }
  if (std::find(events_.begin(), events_.end(), event.name) == events_.end()) {
    events_.push_back(event.name);
  }
  counters_.push_back({.fd = fd, .bytes_per_count = event.bytes_per_count, .write = write});
  const Result<Sample> sample = ReadCounter(counters_.back());
  if (!sample.has_value()) {
    return tl::unexpected<Error>(ToError(ExplainStarvedGroup(refused, context), name));
  }
  counters_.back().first = sample->value;
  counters_.back().lag_ns = sample->lag_ns;
  return {};
}

std::string UncoreMemoryTraffic::Describe() const {
  return fmt::format("memory controllers: {}", fmt::join(events_, " + "));
}

Result<UncoreMemoryTraffic::Sample> UncoreMemoryTraffic::ReadCounter(const Counter& counter) {
  // The value, then the times for which it was enabled and counting.
  std::array<uint64_t, 3> words{};
  const ssize_t got = calls_.Read(counter.fd, words.data(), sizeof(words));
  if (got != static_cast<ssize_t>(sizeof(words))) {
    return Lost("a memory controller's counter was taken away");
  }
  return Sample{.value = words[0], .lag_ns = words[1] - words[2]};
}

Result<MemoryBytes> UncoreMemoryTraffic::Read() {
  MemoryBytes bytes;
  for (const Counter& counter : counters_) {
    TINYPROF_ASSIGN_OR_RETURN(const Sample sample, ReadCounter(counter));
    if (sample.lag_ns > counter.lag_ns) {
      return Lost("a memory controller's counter did not count all the time");
    }
    if (sample.value < counter.first) {
      return Lost("a memory controller's count ran backwards");
    }
    (counter.write ? bytes.written : bytes.read) +=
        counter.bytes_per_count * static_cast<double>(sample.value - counter.first);
  }
  return bytes;
}

Result<MemoryBytes> SubtractIdle(const MemoryBytes& busy, double busy_s, const MemoryBytes& idle,
                                 double idle_s) {
  TINYPROF_CHECK(busy_s > 0 && idle_s > 0);
  const double share = busy_s / idle_s;
  const MemoryBytes rest = {.read = busy.read - share * idle.read,
                            .written = busy.written - share * idle.written};
  if (rest.read < 0 || rest.written < 0) {
    return Fail(ErrorCode::kAborted, "IMPLAUSIBLE",
                "other programs moved more memory while the machine was taken for idle than while "
                "the model ran");
  }
  return rest;
}

}  // namespace tinyprof
