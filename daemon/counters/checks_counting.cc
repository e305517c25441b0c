#include <fmt/format.h>

#include "daemon/counters/checks.h"
#include "daemon/counters/counter_errors.h"
#include "daemon/counters/simulated_pmu.h"
#include "kernels/base/words.h"

namespace tinyprof {
namespace {

using Check = DiagnosticCheck;

std::string WhyRefusalStays(const Refusal& refusal, const SystemFacts& facts) {
  if (refusal.reason == "NO_PMU" && facts.virtualized) {
    return "the hypervisor would have to pass its PMU to this machine";
  }
  if (refusal.reason == "NO_PMU") {
    return "the firmware hides the PMU, or the kernel is too old for this CPU";
  }
  if (refusal.reason == "NO_PERF_EVENTS" && facts.has_paranoid_file) {
    return "what stands before the kernel has to let the call pass";
  }
  if (refusal.reason == "NO_PERF_EVENTS") {
    return "another kernel is needed, one with CONFIG_PERF_EVENTS";
  }
  if (refusal.reason == "SECCOMP" && facts.container == "kubernetes") {
    return "the pod needs the capability PERFMON or a seccompProfile that allows perf_event_open";
  }
  if (refusal.reason == "SECCOMP") {
    return "what started tinyprofd put the filter there (a container, or SystemCallFilter= of a "
           "service) and has to allow perf_event_open";
  }
  if (refusal.reason == "PERMISSION") {
    return "who administers the machine has to allow it; lsm and lockdown in /sys/kernel/security "
           "name what is in force";
  }
  if (facts.events_off.has_value()) {
    return "no event is tried until the check 'worker' is mended";
  }
  return "the kernel does not say more";
}

}  // namespace

DiagnosticCheck CheckRefused(std::string name, int error_number, const std::string& why,
                             const SystemFacts& facts) {
  const Refusal refusal = ExplainErrno(error_number, ContextOf(facts));
  if (refusal.fix.empty()) {
    return CheckUnmendable(std::move(name), CheckState::kFail, refusal.ToString(), why,
                           WhyRefusalStays(refusal, facts));
  }
  return {std::move(name), CheckState::kFail, refusal.ToString(), why, refusal.fix};
}

namespace {

Check HardwareCounters(const SystemFacts& facts) {
  const std::string name = "hardware counters";
  if (facts.hardware_event_errno == 0 && facts.backend.name == kSimulatedBackend) {
    return {name, CheckState::kWarn, "simulated: a stand-in for the PMU answers, not the kernel",
            "counts are what the stand-in is told, and say so in every report", "unset LD_PRELOAD"};
  }
  if (facts.hardware_event_errno == 0) {
    return CheckOk(name, "the kernel counts instructions or cycles");
  }
  return CheckRefused(
      name, facts.hardware_event_errno,
      "FLOPs, cycles and cache misses cannot be measured; time and analytic counts can", facts);
}

Check SoftwareEvents(const SystemFacts& facts) {
  const std::string name = "software events";
  if (facts.software_event_errno == 0) {
    return CheckOk(name, "the kernel counts page faults");
  }
  return CheckRefused(name, facts.software_event_errno,
                      "page faults, context switches and migrations of a run stay unknown", facts);
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

// Of what the kernel answered, so that no event of anybody can be one of hardware.
bool IsNoPmu(const SystemFacts& facts) {
  return facts.hardware_event_errno != 0 &&
         ExplainErrno(facts.hardware_event_errno, ContextOf(facts)).reason == "NO_PMU";
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
  if (IsNoPmu(facts)) {
    return CheckOk(name, "none: where there is no PMU, perf events hold no counter");
  }
  std::string users;
  std::string pids;
  for (const PerfUser& user : found.users) {
    users += fmt::format("{}{} (pid {}) holds {}", users.empty() ? "" : ", ", user.program,
                         user.pid, Counted(user.event_count, "perf event"));
    pids += fmt::format("{}{}", pids.empty() ? "" : ",", user.pid);
  }
  return {name, CheckState::kWarn, users + hidden,
          "hardware events among them take counters from tinyprof, or make its groups lose theirs "
          "while they count (software events take none, and the kernel does not tell which these "
          "are): the command shows whom to ask to end them",
          "ps -o user,pid,lstart,args -p " + pids};
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
          fmt::format("every event of every thread is an open file, and they may run out; the "
                      "command is for the shell that starts tinyprofd, a service has "
                      "LimitNOFILE={} in its unit",
                      FilesToAllow(facts.open_files_limit, wanted)),
          fmt::format("ulimit -n {}", FilesToAllow(facts.open_files_limit, wanted))};
}

}  // namespace

std::vector<DiagnosticCheck> CheckCounting(const SystemFacts& facts) {
  return {HardwareCounters(facts), SoftwareEvents(facts), EventsOfCpu(facts), MemoryTraffic(facts),
          NmiWatchdog(facts),      CountersTaken(facts),  OpenFiles(facts)};
}

}  // namespace tinyprof
