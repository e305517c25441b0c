#include "daemon/counters/event_trials.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "daemon/counters/events_off.h"

namespace tinyprof {
namespace {

int OpenEventErrno(uint32_t type, uint64_t config) {
  if (EventsOff().has_value()) {
    return EPERM;
  }
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = type;
  attr.config = config;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  const long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                          static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) {
    return errno;
  }
  close(static_cast<int>(fd));
  return 0;
}

bool CallReachesKernel() {
  // The kernel looks at the flags before it looks at rights or at the attributes.
  const long opened = syscall(SYS_perf_event_open, nullptr, 0, -1, -1, ~0UL);
  return opened < 0 && errno == EINVAL;
}

}  // namespace

int OpenHardwareEventErrno() {
  const int instructions = OpenEventErrno(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  // A PMU that counts cycles alone is one, too.
  const bool counts =
      instructions == 0 || OpenEventErrno(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) == 0;
  return counts ? 0 : instructions;
}

int OpenSoftwareEventErrno() {
  return OpenEventErrno(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}

void TryEvents(const SystemProbe& probe, SystemFacts& facts) {
  facts.events_off = probe.events_off.has_value() ? probe.events_off : EventsOff();
  if (facts.events_off.has_value()) {
    facts.hardware_event_errno = EPERM;
    facts.software_event_errno = EPERM;
    return;
  }
  facts.hardware_event_errno =
      probe.open_hardware_event ? probe.open_hardware_event() : OpenHardwareEventErrno();
  facts.software_event_errno =
      probe.open_software_event ? probe.open_software_event() : OpenSoftwareEventErrno();
  const auto is_ambiguous = [](int error_number) {
    return error_number == EPERM || error_number == EACCES || error_number == ENOSYS;
  };
  if (!is_ambiguous(facts.hardware_event_errno) && !is_ambiguous(facts.software_event_errno)) {
    return;
  }
  if (probe.call_reaches_kernel) {
    facts.call_reaches_kernel = probe.call_reaches_kernel();
  } else if (!probe.open_hardware_event) {
    facts.call_reaches_kernel = CallReachesKernel();
  }
}

std::vector<std::string> MissingEvents(const SystemProbe& probe) {
  struct Generic {
    const char* name;
    uint64_t config;
  };
  constexpr std::array kGeneric = {Generic{"cycles", PERF_COUNT_HW_CPU_CYCLES},
                                   Generic{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
                                   Generic{"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
                                   Generic{"branch-misses", PERF_COUNT_HW_BRANCH_MISSES}};
  std::vector<std::string> missing;
  for (const Generic& event : kGeneric) {
    const int error_number = probe.open_generic_event
                                 ? probe.open_generic_event(event.config)
                                 : OpenEventErrno(PERF_TYPE_HARDWARE, event.config);
    if (error_number != 0) {
      missing.emplace_back(event.name);
    }
  }
  return missing;
}

}  // namespace tinyprof
