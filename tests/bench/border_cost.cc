// Prints what reading counters at a layer's border costs.
//   border_cost [THREADS]
// Rows: four software events through PAPI, four straight from the kernel by one system call, and
// where there is a PMU the first group of the plan through PAPI, which reads it in user space
// (rdpmc) where the kernel allows. A border is a read of the whole team; a thread's share is its
// own read alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "daemon/counters/counter_plan.h"
#include "daemon/counters/known_work.h"
#include "daemon/counters/papi/papi_backend.h"
#include "daemon/counters/perf/perf_backend.h"
#include "daemon/counters/software_events.h"
#include "daemon/measure/statistics.h"
#include "daemon/measure/team_counters.h"

namespace tinyprof {
namespace {

constexpr int kReads = 2000;
constexpr int kBatches = 21;

void Print(const char* what, CounterBackend& backend, const std::vector<std::string>& events,
           int threads) {
  TeamCounters team(backend, threads);
  if (const Status opened = team.Open(events); !opened.has_value()) {
    fmt::print("{:<34} {}\n", what, opened.error().message);
    return;
  }
  Clock& clock = MonotonicClock();
  std::vector<int64_t> values(team.value_count());
  std::vector<double> border_ns;
  std::vector<double> thread_ns;
  for (int batch = 0; batch < kBatches; ++batch) {
    const int64_t begin_ns = clock.NowNs();
    for (int i = 0; i < kReads; ++i) {
      if (const Status read = team.Read(values); !read.has_value()) {
        fmt::print("{:<34} {}\n", what, read.error().message);
        return;
      }
    }
    border_ns.push_back(static_cast<double>(clock.NowNs() - begin_ns) / kReads);
    const Result<std::vector<double>> each_ns = team.ThreadReadCostNs(clock, kReads);
    if (!each_ns.has_value()) {
      fmt::print("{:<34} {}\n", what, each_ns.error().message);
      return;
    }
    thread_ns.push_back(*std::max_element(each_ns->begin(), each_ns->end()));
  }
  fmt::print("{:<34}{:>8}{:>14.0f}{:>14.0f}\n", what, events.size(), Median(border_ns),
             Median(thread_ns));
}

// Whether user space may read counters: 0 no, 1 its own, 2 all; empty where the kernel has no say.
std::string Rdpmc() {
  std::ifstream file("/sys/bus/event_source/devices/cpu/rdpmc");
  std::string value;
  std::getline(file, value);
  return value;
}

int Run(int threads) {
  const auto papi = MakePapiBackend(threads);
  const auto kernel = MakeSoftwareBackend(threads);
  std::vector<std::string> software;
  for (const SoftwareEvent& event : kSoftwareEvents) {
    software.emplace_back(event.event);
  }
  fmt::print("{:<34}{:>8}{:>14}{:>14}\n", fmt::format("threads: {}", threads), "events",
             "border ns", "thread ns");
  Print("software events through PAPI", *papi, software, threads);
  Print("software events by system call", *kernel, software, threads);
  const CounterPlan plan = PlanCounters(*papi, HostKnownWork());
  if (!plan.unusable_reason.empty()) {
    fmt::print("hardware events: {}\n", plan.unusable_reason);
    return EXIT_SUCCESS;
  }
  std::vector<std::string> group = plan.groups.front();
  group.resize(std::min<size_t>(group.size(), 4));
  Print(fmt::format("hardware events, rdpmc={}", Rdpmc()).c_str(), *papi, group, threads);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1) {
    fmt::print(stderr, "THREADS must be a number of at least 1, got \"{}\"\n", argv[1]);
    return EXIT_FAILURE;
  }
  return tinyprof::Run(threads);
}
