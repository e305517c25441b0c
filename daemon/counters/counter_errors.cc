#include "daemon/counters/counter_errors.h"

#include <fmt/format.h>
#include <linux/capability.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernels/base/words.h"

namespace tinyprof {
namespace {

constexpr std::string_view kLowerParanoid = "sudo sysctl kernel.perf_event_paranoid=2";
constexpr std::string_view kKernelModeToo = "sudo sysctl kernel.perf_event_paranoid=1";
constexpr std::string_view kWatchdogOff = "sudo sysctl kernel.nmi_watchdog=0";
constexpr int64_t kOtherFiles = 256;
constexpr int64_t kUsualFiles = 4096;

constexpr ErrnoRow kErrnoTable[] = {
    {ENOENT, "NO_PMU", "the kernel exposes no hardware PMU (virtual machine)", ""},
    {ENODEV, "NO_PMU", "the kernel has no driver for the PMU of this CPU", ""},
    {ENXIO, "NO_PMU", "the PMU does not answer (a virtual machine that exposes part of it)", ""},
    {EOPNOTSUPP, "NO_PMU", "the PMU cannot count this event", ""},
    {EACCES, "PERMISSION", "the kernel does not let this user count events of this kind",
     kLowerParanoid},
    {EPERM, "PERMISSION", "the system forbids perf_event_open to this process", kLowerParanoid},
    {ENOSYS, "NO_PERF_EVENTS", "the kernel is built without perf events", ""},
    {EBUSY, "COUNTER_BUSY", "another program holds the counters for itself", kListPerfUsers},
    {EAGAIN, "COUNTER_BUSY", "the kernel has no counter to give at the moment", kListPerfUsers},
    {EMFILE, "TOO_MANY_FILES", "the limit of open files of this process is reached", ""},
    {ENFILE, "TOO_MANY_FILES", "the limit of open files of the system is reached", ""},
    {ESRCH, "THREAD_GONE", "the thread whose events were to be counted has ended", ""},
    {EINVAL, "EVENT_NOT_ON_CPU", "the kernel does not take this event on this CPU", ""},
};

bool HasCapability(const RefusalContext& context, int capability) {
  return ((context.effective_capabilities.value_or(0) >> capability) & 1U) != 0;
}

// "uid 1000, CapEff 0000000000000000, seccomp 0": what decides over permission, as far as known.
std::string Credentials(const RefusalContext& context) {
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (context.perf_event_paranoid.has_value()) {
    add(fmt::format("perf_event_paranoid {}", *context.perf_event_paranoid));
  }
  if (context.effective_uid.has_value()) {
    add(fmt::format("uid {}", *context.effective_uid));
  }
  if (context.effective_capabilities.has_value()) {
    add(fmt::format("CapEff {:016x}", *context.effective_capabilities));
  }
  if (context.seccomp_mode.has_value()) {
    add(fmt::format("seccomp {}", *context.seccomp_mode));
  }
  return text.empty() ? text : ": " + text;
}

// Whether a filter, and not the kernel, gave this answer.
bool FilterAnswers(int error_number, const RefusalContext& context) {
  if (context.seccomp_mode.value_or(0) != 2) {
    return false;
  }
  // A kernel without perf events answers ENOSYS, too, but has no such level.
  const bool kernel_has_events = context.perf_event_paranoid.has_value();
  if (context.call_reaches_kernel.has_value()) {
    return !*context.call_reaches_kernel && (error_number != ENOSYS || kernel_has_events);
  }
  // EPERM is what filters answer by default, the kernel's own levels answer EACCES.
  return error_number == EPERM || (error_number == ENOSYS && kernel_has_events);
}

// Of the kernel itself, not of a filter.
Refusal ExplainPermission(int error_number, const RefusalContext& context) {
  const int level = context.perf_event_paranoid.value_or(0);
  if (level > 2 && !HasCapability(context, CAP_SYS_ADMIN)) {
    return {"PARANOID",
            fmt::format("kernel.perf_event_paranoid is {}, which lets only root count; 2 is "
                        "enough{}",
                        level, Credentials(context)),
            std::string(kLowerParanoid)};
  }
  if (HasCapability(context, CAP_SYS_ADMIN) || HasCapability(context, CAP_PERFMON)) {
    return {"PERMISSION",
            "a security module or kernel lockdown forbids perf_event_open in spite of the "
            "capabilities" +
                Credentials(context),
            ""};
  }
  // Up to level 2 every user may count what runs in user mode, as the plain hardware event does.
  const bool user_mode_too =
      context.hardware_event_errno == EACCES || context.hardware_event_errno == EPERM;
  if (context.perf_event_paranoid.has_value() && user_mode_too) {
    return {"PERMISSION",
            fmt::format("a security module or kernel lockdown forbids perf_event_open, though "
                        "level {} lets every user count in user mode{}",
                        level, Credentials(context)),
            ""};
  }
  const auto row = std::find_if(std::begin(kErrnoTable), std::end(kErrnoTable),
                                [&](const ErrnoRow& r) { return r.error_number == error_number; });
  // Level 2 already allows what runs in user mode, so what is refused there counts the kernel.
  return {"PERMISSION", std::string(row->sentence) + Credentials(context),
          std::string(level == 2 ? kKernelModeToo : kLowerParanoid)};
}

Refusal ExplainOpenFiles(const RefusedEvent& event, const RefusalContext& context) {
  const int threads = context.threads.value_or(1);
  const int64_t allowed =
      FilesToAllow(context.open_files_limit, FilesWanted(threads, event.group_size));
  const std::string limit =
      context.open_files_limit.has_value()
          ? fmt::format("the limit of open files is {}, and ", *context.open_files_limit)
          : "the limit of open files of this process is reached: ";
  return {
      "TOO_MANY_FILES",
      fmt::format("{}{} x {} need {} beside the others; give tinyprofd more, in the shell that "
                  "starts it or by LimitNOFILE={} in its service's unit",
                  limit, Counted(threads, "thread"),
                  Counted(static_cast<int64_t>(event.group_size), "event"),
                  static_cast<int64_t>(threads) * static_cast<int64_t>(event.group_size), allowed),
      fmt::format("ulimit -n {}", allowed)};
}

Refusal ExplainSystemFiles(const RefusalContext& context) {
  const std::string sentence = "the limit of open files of the system is reached";
  if (!context.system_files_limit.has_value() || *context.system_files_limit > INT64_MAX / 2) {
    return {"TOO_MANY_FILES", sentence, ""};
  }
  return {"TOO_MANY_FILES", fmt::format("{}, {}", sentence, *context.system_files_limit),
          fmt::format("sudo sysctl fs.file-max={}", 2 * *context.system_files_limit)};
}

std::string NameOf(const RefusedEvent& event) {
  return event.name.empty() ? "the event group" : std::string(event.name);
}

std::string Watchdog(const RefusalContext& context) {
  if (!context.nmi_watchdog.has_value()) {
    return "the state of the NMI watchdog is not known";
  }
  return *context.nmi_watchdog != 0 ? "the NMI watchdog is on and holds one"
                                    : "the NMI watchdog is off";
}

Refusal GroupFull(const RefusedEvent& event, const RefusalContext& context) {
  const bool watchdog = context.nmi_watchdog.value_or(0) != 0;
  return {"GROUP_FULL",
          fmt::format("the CPU has too few counters for {} beside {} of its group{}", NameOf(event),
                      Counted(static_cast<int64_t>(event.group_size) - 1, "other", "others"),
                      watchdog ? "; " + Watchdog(context) : ""),
          std::string(watchdog ? kWatchdogOff : "")};
}

}  // namespace

std::span<const ErrnoRow> ErrnoTable() { return kErrnoTable; }

Refusal ExplainErrno(int error_number, const RefusalContext& context) {
  if (context.events_off.has_value()) {
    return *context.events_off;
  }
  if (FilterAnswers(error_number, context)) {
    return SeccompRefusal("a seccomp filter forbids perf_event_open", context);
  }
  if (error_number == EACCES || error_number == EPERM) {
    return ExplainPermission(error_number, context);
  }
  if (error_number == EMFILE) {
    return ExplainOpenFiles({}, context);
  }
  if (error_number == ENFILE) {
    return ExplainSystemFiles(context);
  }
  if (error_number == ENOSYS && context.perf_event_paranoid.has_value()) {
    return {"NO_PERF_EVENTS",
            "perf_event_open is not there, though the kernel has perf events: a container or an "
            "emulator stands before it",
            ""};
  }
  const auto row = std::find_if(std::begin(kErrnoTable), std::end(kErrnoTable),
                                [&](const ErrnoRow& r) { return r.error_number == error_number; });
  if (row == std::end(kErrnoTable)) {
    return {"COUNTER_ERROR",
            fmt::format("perf_event_open fails with '{}'", std::strerror(error_number)), ""};
  }
  return {std::string(row->reason), std::string(row->sentence), std::string(row->fix)};
}

Refusal ExplainEventErrno(int error_number, const RefusedEvent& event,
                          const RefusalContext& context) {
  if (context.events_off.has_value()) {
    return *context.events_off;
  }
  const std::string name = NameOf(event);
  switch (error_number) {
    case EINVAL:
    case ENOSPC:  // what some PMU drivers answer for a group that does not fit
      if (event.alone == Alone::kCounts) {
        return GroupFull(event, context);
      }
      return {"EVENT_NOT_ON_CPU",
              fmt::format("the kernel does not take {} on this CPU{}", name,
                          event.alone == Alone::kRefused ? ", not even by itself" : ""),
              ""};
    case EMFILE:
      return ExplainOpenFiles(event, context);
    case ENOENT:
      if (context.hardware_event_errno == 0) {
        return {"EVENT_NOT_ON_CPU", fmt::format("this CPU or its kernel has no {}", name), ""};
      }
      break;
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
      if (context.hardware_event_errno == 0) {
        return {"EVENT_NOT_ON_CPU",
                fmt::format("the PMU of {} is gone, or it cannot count the event", name), ""};
      }
      break;
    default:
      break;
  }
  return ExplainErrno(error_number, context);
}

Refusal ExplainStarvedGroup(const RefusedEvent& event, const RefusalContext& context) {
  if (event.alone == Alone::kCounts) {
    return GroupFull(event, context);
  }
  const bool watchdog = context.nmi_watchdog.value_or(0) != 0;
  return {"COUNTER_BUSY",
          fmt::format("no counter is free for {}: counters are held by someone else; {}{}",
                      NameOf(event), Watchdog(context),
                      watchdog ? fmt::format("; who else: {}", kListPerfUsers) : ""),
          std::string(watchdog ? kWatchdogOff : kListPerfUsers)};
}

Refusal SeccompRefusal(const std::string& what, const RefusalContext& context) {
  Refusal refusal{"SECCOMP", what + Credentials(context), ""};
  if (context.container == "docker" || context.container == "podman") {
    const bool has_capability =
        HasCapability(context, CAP_PERFMON) || HasCapability(context, CAP_SYS_ADMIN);
    refusal.fix =
        fmt::format("{} run {} debian:12", context.container,
                    has_capability ? "--security-opt seccomp=unconfined" : "--cap-add PERFMON");
  }
  return refusal;
}

ErrorCode CodeOfReason(std::string_view reason) {
  if (reason == "GROUP_FULL" || reason == "COUNTER_BUSY" || reason == "TOO_MANY_FILES") {
    return ErrorCode::kResourceExhausted;
  }
  if (reason == "COUNTERS_LOST" || reason == "THREAD_GONE") {
    return ErrorCode::kAborted;
  }
  if (reason == "COUNTER_ERROR" || reason == "PROFILER_DEFECT") {
    return ErrorCode::kInternal;
  }
  return ErrorCode::kFailedPrecondition;
}

Error ToError(const Refusal& refusal, std::string_view event) {
  Error error{CodeOfReason(refusal.reason), refusal.reason, refusal.Message(), {}};
  error.metadata["event"] = event.empty() ? "the event group" : std::string(event);
  if (!refusal.fix.empty()) {
    error.metadata["fix"] = refusal.fix;
  }
  return error;
}

int64_t FilesWanted(int threads, size_t events) {
  return static_cast<int64_t>(threads) * static_cast<int64_t>(events) + kOtherFiles;
}

int64_t FilesToAllow(std::optional<int64_t> limit, int64_t wanted) {
  if (!limit.has_value()) {
    return std::max(wanted, kUsualFiles);
  }
  return std::max(wanted, *limit > INT64_MAX / 2 ? INT64_MAX : 2 * *limit);
}

std::string ReasonOf(const Error& error) { return error.reason + ": " + error.message; }

}  // namespace tinyprof
