// What the kernel and the container let this process do.
#include <linux/capability.h>

#include "daemon/counters/checks.h"
#include "daemon/counters/counter_errors.h"

namespace tinyprof {
namespace {

using Check = DiagnosticCheck;

bool HasCapability(const SystemFacts& facts, int capability) {
  return ((facts.effective_capabilities.value_or(0) >> capability) & 1U) != 0;
}

// What PAPI prints of itself begins with "7.0.": later releases look at capabilities and levels.
bool IsPapi70(const SystemFacts& facts) { return facts.backend.version.starts_with("7.0."); }

Check Paranoid(const SystemFacts& facts) {
  const std::string name = "perf_event_paranoid";
  if (!facts.perf_event_paranoid.has_value() && facts.has_paranoid_file) {
    return CheckUnmendable(
        name, CheckState::kWarn,
        "/proc/sys/kernel/perf_event_paranoid holds no level, or cannot be read just now",
        "whether this user may count can only be tried",
        "the kernel writes this file, so something else stands in its place or files run out");
  }
  if (!facts.perf_event_paranoid.has_value()) {
    return CheckUnmendable(
        name, CheckState::kFail, "there is no /proc/sys/kernel/perf_event_paranoid",
        "the kernel is built without perf events, or /proc is masked by a container",
        "the kernel or the container must be another");
  }
  const int level = *facts.perf_event_paranoid;
  const std::string fix = "sudo sysctl kernel.perf_event_paranoid=2";
  if (level == 3) {
    return {name, CheckState::kFail, "3", "PAPI 7.0 counts nothing at level 3, not even for root",
            fix};
  }
  if (level > 3) {
    const bool root = facts.effective_uid == 0 || HasCapability(facts, CAP_SYS_ADMIN);
    return {name, root ? CheckState::kWarn : CheckState::kFail, std::to_string(level),
            "only root may count at this level, and PAPI 7.0 does not know the level: it looks "
            "usable, and each event fails",
            fix};
  }
  return CheckOk(name, std::to_string(level));
}

Check Capability(const SystemFacts& facts) {
  const std::string name = "capability";
  if (!facts.effective_capabilities.has_value()) {
    return CheckNotTold(name);
  }
  const int level = facts.perf_event_paranoid.value_or(2);
  if (HasCapability(facts, CAP_PERFMON) && level > 2 && IsPapi70(facts)) {
    return {name, CheckState::kWarn, "CAP_PERFMON",
            "the kernel would let this process count, but PAPI 7.0 looks at perf_event_paranoid "
            "and ignores the capability",
            "sudo sysctl kernel.perf_event_paranoid=2"};
  }
  if (HasCapability(facts, CAP_PERFMON) || HasCapability(facts, CAP_SYS_ADMIN)) {
    return CheckOk(name, HasCapability(facts, CAP_PERFMON) ? "CAP_PERFMON" : "CAP_SYS_ADMIN");
  }
  // Up to level 1 the kernel lets every user count in kernel mode.
  if (level <= 1) {
    return CheckOk(name, "none, and none is needed at this perf_event_paranoid");
  }
  return {name, CheckState::kWarn, "neither CAP_PERFMON nor CAP_SYS_ADMIN",
          "context switches and migrations cannot be counted",
          "sudo sysctl kernel.perf_event_paranoid=1"};
}

bool IsSeccomp(int error_number, const SystemFacts& facts) {
  return error_number != 0 && ExplainErrno(error_number, ContextOf(facts)).reason == "SECCOMP";
}

Check Seccomp(const SystemFacts& facts) {
  const std::string name = "seccomp";
  for (const int error_number : {facts.hardware_event_errno, facts.software_event_errno}) {
    if (IsSeccomp(error_number, facts)) {
      return CheckRefused(name, error_number,
                          "nothing can be counted, not even page faults; time can be measured",
                          facts);
    }
  }
  if (!facts.seccomp_mode.has_value()) {
    return CheckNotTold(name);
  }
  if (*facts.seccomp_mode == 0) {
    return CheckOk(name, "off");
  }
  if (facts.events_off.has_value()) {
    return CheckSkipped(name, "on; whether perf_event_open passes was not tried");
  }
  return CheckOk(name, "on, and it lets perf_event_open pass");
}

}  // namespace

std::vector<DiagnosticCheck> CheckRights(const SystemFacts& facts) {
  return {Paranoid(facts), Capability(facts), Seccomp(facts)};
}

}  // namespace tinyprof
