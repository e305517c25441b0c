#include "daemon/counters/perf/perf_events.h"

#include <algorithm>
#include <iterator>

namespace tinyprof {
namespace {

struct NamedEvent {
  std::string_view name;
  uint32_t type;
  uint64_t config;
};

constexpr NamedEvent kNamed[] = {
    {"CYCLES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"CPU-CYCLES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"INSTRUCTIONS", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"CACHE-REFERENCES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"CACHE-MISSES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"BRANCH-INSTRUCTIONS", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"BRANCHES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"BRANCH-MISSES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"BUS-CYCLES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"STALLED-CYCLES-FRONTEND", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"STALLED-CYCLES-BACKEND", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"REF-CYCLES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"CPU-CLOCK", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"TASK-CLOCK", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"PAGE-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"CONTEXT-SWITCHES", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"CPU-MIGRATIONS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"MINOR-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"MAJOR-FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
};

struct Part {
  std::string_view name;
  uint64_t bits;
};
// A cache event is a cache, an operation in bits 8 to 15 and a result from bit 16.
constexpr Part kCaches[] = {
    {"L1-DCACHE-", PERF_COUNT_HW_CACHE_L1D}, {"L1-ICACHE-", PERF_COUNT_HW_CACHE_L1I},
    {"LLC-", PERF_COUNT_HW_CACHE_LL},        {"DTLB-", PERF_COUNT_HW_CACHE_DTLB},
    {"ITLB-", PERF_COUNT_HW_CACHE_ITLB},     {"BRANCH-", PERF_COUNT_HW_CACHE_BPU},
    {"NODE-", PERF_COUNT_HW_CACHE_NODE}};
constexpr uint64_t kMiss = PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
constexpr uint64_t kWrite = PERF_COUNT_HW_CACHE_OP_WRITE << 8;
constexpr uint64_t kPrefetch = PERF_COUNT_HW_CACHE_OP_PREFETCH << 8;
constexpr Part kOperations[] = {{"LOADS", 0},
                                {"LOAD-MISSES", kMiss},
                                {"STORES", kWrite},
                                {"STORE-MISSES", kWrite | kMiss},
                                {"PREFETCHES", kPrefetch},
                                {"PREFETCH-MISSES", kPrefetch | kMiss}};

constexpr std::string_view kPrefix = "perf::";
constexpr std::string_view kKernelSuffix = ":k=1";

}  // namespace

perf_event_attr AttributesOf(const EventRequest& request) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = request.event.type;
  attributes.config = request.event.config;
  attributes.config1 = request.event.config1;
  attributes.disabled = request.leader;
  // Only a leader may be.
  attributes.pinned = request.leader;
  attributes.exclude_kernel = !request.count_kernel;
  attributes.exclude_hv = 1;
  attributes.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attributes;
}

std::optional<RawEvent> GenericEvent(std::string_view name) {
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  for (const NamedEvent& named : kNamed) {
    if (name == named.name) {
      return RawEvent{.type = named.type, .config = named.config};
    }
  }
  for (const Part& cache : kCaches) {
    if (!name.starts_with(cache.name)) {
      continue;
    }
    const auto operation =
        std::find_if(std::begin(kOperations), std::end(kOperations),
                     [&](const Part& part) { return name.substr(cache.name.size()) == part.name; });
    if (operation != std::end(kOperations)) {
      return RawEvent{.type = PERF_TYPE_HW_CACHE, .config = cache.bits | operation->bits};
    }
  }
  return std::nullopt;
}

std::optional<EventRequest> ResolveEvent(std::string_view name, const RawEventResolver& resolve) {
  EventRequest request;
  request.count_kernel = name.ends_with(kKernelSuffix);
  if (request.count_kernel) {
    name.remove_suffix(kKernelSuffix.size());
  }
  std::optional<RawEvent> event = resolve ? resolve(name) : std::nullopt;
  if (!event.has_value()) {
    event = GenericEvent(name);
  }
  if (!event.has_value()) {
    return std::nullopt;
  }
  request.event = *event;
  return request;
}

}  // namespace tinyprof
