#include <fmt/format.h>
#include <linux/capability.h>

#include <cerrno>

#include "daemon/counters/checks.h"
#include "daemon/counters/counter_errors.h"
#include "daemon/counters/simulated_pmu.h"
#include "kernels/base/words.h"

namespace tinyprof {
namespace {

using Check = DiagnosticCheck;

bool HasCapability(const SystemFacts& facts, int capability) {
  return ((facts.effective_capabilities.value_or(0) >> capability) & 1U) != 0;
}

// What PAPI prints of itself begins with "7.0.": later releases look at capabilities and levels.
bool IsPapi70(const SystemFacts& facts) { return facts.backend.version.starts_with("7.0."); }

std::string WhyRefusalStays(const Refusal& refusal, const SystemFacts& facts) {
  if (refusal.reason == "NO_PMU" && facts.virtualized) {
    return "the hypervisor would have to pass its PMU to this machine";
  }
  if (refusal.reason == "NO_PMU") {
    return "the firmware hides the PMU, or the kernel is too old for this CPU";
  }
  if (refusal.reason == "NO_PERF_EVENTS") {
    return "another kernel is needed, one with CONFIG_PERF_EVENTS";
  }
  return "the kernel does not say more";
}

Check Refused(std::string name, int error_number, const std::string& why,
              const SystemFacts& facts) {
  const Refusal refusal = ExplainErrno(error_number, ContextOf(facts));
  if (refusal.fix.empty()) {
    return CheckUnmendable(std::move(name), CheckState::kFail, refusal.ToString(), why,
                           WhyRefusalStays(refusal, facts));
  }
  return {std::move(name), CheckState::kFail, refusal.ToString(), why, refusal.fix};
}

Check HardwareCounters(const SystemFacts& facts) {
  const std::string name = "hardware counters";
  if (facts.hardware_event_errno == 0 && facts.backend.name == kSimulatedBackend) {
    return {name, CheckState::kWarn, "simulated: a stand-in for the PMU answers, not the kernel",
            "counts are what the stand-in is told, and say so in every report", "unset LD_PRELOAD"};
  }
  if (facts.hardware_event_errno == 0) {
    return CheckOk(name, "the kernel counts instructions or cycles");
  }
  return Refused(name, facts.hardware_event_errno,
                 "FLOPs, cycles and cache misses cannot be measured; time and analytic counts can",
                 facts);
}

Check SoftwareEvents(const SystemFacts& facts) {
  const std::string name = "software events";
  if (facts.software_event_errno == 0) {
    return CheckOk(name, "the kernel counts page faults");
  }
  return Refused(name, facts.software_event_errno,
                 "page faults, context switches and migrations of a run stay unknown", facts);
}

Check Papi(const SystemFacts& facts) {
  const std::string name = "PAPI";
  const BackendInfo& papi = facts.backend;
  if (papi.name.empty()) {
    return CheckSkipped(name, "not asked");
  }
  const std::string found =
      fmt::format("version {}, PMU {}", papi.version.empty() ? "unknown" : papi.version,
                  papi.pmu.empty() ? "unknown" : papi.pmu);
  if (papi.unusable_reason.empty()) {
    return CheckOk(name, found);
  }
  const std::string why = "no hardware event can be counted through PAPI";
  const std::string all = fmt::format("{}; {}", found, papi.unusable_reason);
  if (facts.perf_event_paranoid.value_or(0) > 2) {
    return {name, CheckState::kFail, all, why, "sudo sysctl kernel.perf_event_paranoid=2"};
  }
  if (!facts.environment.empty()) {
    return {name, CheckState::kFail, all, why, "unset " + facts.environment.front().name};
  }
  return CheckUnmendable(name, CheckState::kFail, all, why,
                         facts.hardware_event_errno != 0
                             ? "PAPI can count no more than the kernel does"
                             : "a PAPI that knows this CPU is needed");
}

// libpfm4 names core PMUs; a CPU newer than it leaves none.
Check EventTables(const SystemFacts& facts) {
  const std::string name = "event tables";
  if (facts.backend.name.empty()) {
    return CheckSkipped(name, "PAPI was not asked");
  }
  if (!facts.backend.pmu.empty()) {
    return CheckOk(name, "libpfm4 knows this CPU as " + facts.backend.pmu);
  }
  const std::string cpu = facts.cpu_model.empty() ? "this CPU" : facts.cpu_model;
  return CheckUnmendable(
      name, CheckState::kWarn, "EVENT_UNKNOWN: libpfm4 has no PMU for " + cpu,
      "PAPI counts nothing on a CPU that its libpfm4 does not know; what the kernel "
      "knows by itself is counted without PAPI where there is a PMU",
      "a libpfm4 that is newer than the CPU is needed");
}

Check EventsOfCpu(const SystemFacts& facts) {
  const std::string name = "events of the CPU";
  if (!facts.missing_events.has_value()) {
    return CheckSkipped(name, "not tried: the kernel counts no hardware event at all");
  }
  if (facts.missing_events->empty()) {
    return CheckOk(name, "the kernel takes cycles, instructions, cache-misses and branch-misses");
  }
  std::string missing;
  for (const std::string& event : *facts.missing_events) {
    missing += missing.empty() ? event : ", " + event;
  }
  return CheckUnmendable(name, CheckState::kWarn, "EVENT_NOT_ON_CPU: the kernel refuses " + missing,
                         "what is made of these events is absent from reports",
                         "this CPU or the kernel's driver for it does not have them");
}

Check MemoryTraffic(const SystemFacts& facts) {
  const std::string name = "memory traffic";
  if (!facts.memory_controllers.has_value()) {
    return CheckSkipped(name, "not tried");
  }
  if (facts.memory_controllers->has_value()) {
    return CheckOk(name, "the memory controllers of every socket can be counted");
  }
  const Error& error = facts.memory_controllers->error();
  const std::string why =
      "the bytes that a pass moves to and from memory are estimated from events of the cores, or "
      "absent; all else is counted without this";
  if (const auto fix = error.metadata.find("fix"); fix != error.metadata.end()) {
    return {name, CheckState::kWarn, ReasonOf(error), why, fix->second};
  }
  return CheckUnmendable(name, CheckState::kWarn, ReasonOf(error), why,
                         "the CPU, its kernel or the hypervisor does not offer them");
}

Check Paranoid(const SystemFacts& facts) {
  const std::string name = "perf_event_paranoid";
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

Check Seccomp(const SystemFacts& facts) {
  const std::string name = "seccomp";
  if (!facts.seccomp_mode.has_value()) {
    return CheckNotTold(name);
  }
  if (*facts.seccomp_mode == 0) {
    return CheckOk(name, "off");
  }
  if (facts.hardware_event_errno != EPERM && facts.software_event_errno != EPERM) {
    return CheckOk(name, "on, and it lets perf_event_open pass");
  }
  return {name, CheckState::kFail, "on, and perf_event_open is forbidden",
          "container runtimes forbid perf_event_open unless they are told otherwise",
          "docker run --cap-add PERFMON ..."};
}

Check NmiWatchdog(const SystemFacts& facts) {
  const std::string name = "NMI watchdog";
  if (!facts.nmi_watchdog.has_value()) {
    return CheckNotTold(name);
  }
  if (*facts.nmi_watchdog == 0 || facts.hardware_event_errno != 0) {
    return CheckOk(name,
                   *facts.nmi_watchdog == 0 ? "off" : "on, which costs nothing without a PMU");
  }
  return {name, CheckState::kWarn, "on", "it holds one hardware counter on each CPU",
          "sudo sysctl kernel.nmi_watchdog=0"};
}

Check CountersTaken(const SystemFacts& facts) {
  const std::string name = "counters taken";
  if (!facts.perf_users.has_value()) {
    return CheckSkipped(name, "not looked for");
  }
  const PerfUsers& found = *facts.perf_users;
  const std::string hidden =
      found.unreadable_processes == 0
          ? ""
          : fmt::format("; the open files of {} are hidden",
                        Counted(found.unreadable_processes, "process", "processes"));
  if (found.users.empty()) {
    return CheckOk(name, "no other program is seen to hold perf events" + hidden);
  }
  std::string users;
  for (const PerfUser& user : found.users) {
    users += fmt::format("{}{} (pid {}) holds {}", users.empty() ? "" : ", ", user.program,
                         user.pid, Counted(user.event_count, "perf event"));
  }
  return {name, CheckState::kWarn, users + hidden,
          "a counter that another program holds is one less for tinyprof, or makes groups lose "
          "theirs while they count",
          fmt::format("sudo kill -INT {}", found.users.front().pid)};
}

Check OpenFiles(const SystemFacts& facts) {
  const std::string name = "open files";
  if (!facts.open_files_limit.has_value()) {
    return CheckNotTold(name);
  }
  // A group has at most 32 events, and a team at most a thread for each CPU.
  const int64_t wanted = FilesWanted(facts.cpu_count, 32);
  const std::string found = std::to_string(*facts.open_files_limit);
  if (*facts.open_files_limit >= wanted) {
    return CheckOk(name, found);
  }
  return {name, CheckState::kWarn, found,
          "every event of every thread is an open file, and they may run out",
          fmt::format("ulimit -n {}", wanted)};
}

}  // namespace

std::vector<DiagnosticCheck> CheckCounting(const SystemFacts& facts) {
  return {HardwareCounters(facts), SoftwareEvents(facts), Papi(facts),          EventTables(facts),
          EventsOfCpu(facts),      MemoryTraffic(facts),  Paranoid(facts),      Capability(facts),
          Seccomp(facts),          NmiWatchdog(facts),    CountersTaken(facts), OpenFiles(facts)};
}

}  // namespace tinyprof
