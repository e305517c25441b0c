#include "daemon/counters/counter_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tinyprof {
namespace {

constexpr std::string_view kLowerParanoid = "sudo sysctl kernel.perf_event_paranoid=2";
constexpr std::string_view kAllowInContainer =
    "start the container with --cap-add PERFMON, or with a seccomp profile that allows "
    "perf_event_open";

constexpr ErrnoRow kErrnoTable[] = {
    {ENOENT, "NO_PMU", "the kernel exposes no hardware PMU (virtual machine)", ""},
    {ENODEV, "NO_PMU", "the kernel has no driver for the PMU of this CPU", ""},
    {ENXIO, "NO_PMU", "the PMU does not answer (a virtual machine that exposes part of it)", ""},
    {EOPNOTSUPP, "NO_PMU", "the PMU cannot count this event", ""},
    {EACCES, "PERMISSION", "the kernel does not let this user count events of this kind",
     kLowerParanoid},
    {EPERM, "PERMISSION", "the system forbids perf_event_open to this process", kLowerParanoid},
    {ENOSYS, "NO_PERF_EVENTS", "the kernel is built without perf events", ""},
    {EBUSY, "COUNTER_BUSY", "another program holds the counters for itself",
     "sudo sysctl kernel.nmi_watchdog=0"},
    {EMFILE, "TOO_MANY_FILES", "the limit of open files of this process is reached",
     "ulimit -n 4096"},
    {ENFILE, "TOO_MANY_FILES", "the limit of open files of the system is reached",
     "sudo sysctl fs.file-max=1000000"},
    {EINVAL, "EVENT_NOT_ON_CPU", "the kernel does not take this event on this CPU", ""},
};

}  // namespace

std::span<const ErrnoRow> ErrnoTable() { return kErrnoTable; }

Refusal ExplainErrno(int error_number, const RefusalContext& context) {
  if (error_number == EACCES || error_number == EPERM) {
    if (context.perf_event_paranoid.value_or(0) > 2) {
      return {
          "PARANOID",
          fmt::format("kernel.perf_event_paranoid is {}, which lets only root count; 2 is enough",
                      *context.perf_event_paranoid),
          std::string(kLowerParanoid)};
    }
    if (error_number == EPERM && context.seccomp_mode.value_or(0) == 2) {
      return {"SECCOMP", "a seccomp filter (of a container) forbids perf_event_open",
              std::string(kAllowInContainer)};
    }
  }
  const auto row = std::find_if(std::begin(kErrnoTable), std::end(kErrnoTable),
                                [&](const ErrnoRow& r) { return r.error_number == error_number; });
  if (row == std::end(kErrnoTable)) {
    return {"COUNTER_ERROR",
            fmt::format("perf_event_open fails with '{}'", std::strerror(error_number)), ""};
  }
  return {std::string(row->reason), std::string(row->sentence), std::string(row->fix)};
}

std::string ReasonOf(const Error& error) { return error.reason + ": " + error.message; }

}  // namespace tinyprof
