#include "daemon/counters/diagnosis.h"

#include <fmt/format.h>
#include <linux/capability.h>

#include <cerrno>

#include "daemon/counters/counter_errors.h"

namespace tinyprof {
namespace {

using Check = DiagnosticCheck;

Check Ok(std::string name, std::string found) {
  return {.name = std::move(name), .state = CheckState::kOk, .found = std::move(found)};
}

Check NotTold(std::string name) { return Ok(std::move(name), "the kernel does not tell"); }

RefusalContext ContextOf(const SystemFacts& facts) {
  return {.hardware_event_errno = facts.hardware_event_errno,
          .perf_event_paranoid = facts.perf_event_paranoid,
          .seccomp_mode = facts.seccomp_mode};
}

Check HardwareCounters(const SystemFacts& facts) {
  if (facts.hardware_event_errno == 0) {
    return Ok("hardware counters", "the kernel counts instructions");
  }
  const Refusal refusal = ExplainErrno(facts.hardware_event_errno, ContextOf(facts));
  std::string why =
      "FLOPs, cycles and cache misses cannot be measured; time and analytic counts can";
  if (refusal.reason == "NO_PMU" && facts.virtualized) {
    why += "; the hypervisor would have to pass its PMU to this machine";
  }
  return {"hardware counters", CheckState::kFail, refusal.ToString(), why, refusal.fix};
}

Check SoftwareEvents(const SystemFacts& facts) {
  if (facts.software_event_errno == 0) {
    return Ok("software events", "the kernel counts page faults");
  }
  const Refusal refusal = ExplainErrno(facts.software_event_errno, ContextOf(facts));
  return {"software events", CheckState::kFail, refusal.ToString(),
          "page faults, context switches and migrations of a run stay unknown", refusal.fix};
}

Check Papi(const SystemFacts& facts) {
  const BackendInfo& papi = facts.backend;
  if (papi.name.empty()) {
    return Ok("PAPI", "not asked");
  }
  const std::string found =
      fmt::format("version {}, PMU {}", papi.version.empty() ? "unknown" : papi.version,
                  papi.pmu.empty() ? "unknown" : papi.pmu);
  if (papi.unusable_reason.empty()) {
    return Ok("PAPI", found);
  }
  return {"PAPI", CheckState::kFail, fmt::format("{}; {}", found, papi.unusable_reason),
          "no hardware event can be counted through PAPI", ""};
}

Check Paranoid(const SystemFacts& facts) {
  const std::string name = "perf_event_paranoid";
  if (!facts.perf_event_paranoid.has_value()) {
    return {name, CheckState::kFail, "there is no /proc/sys/kernel/perf_event_paranoid",
            "the kernel is built without perf events, or /proc is masked by a container", ""};
  }
  const int level = *facts.perf_event_paranoid;
  const std::string fix = "sudo sysctl kernel.perf_event_paranoid=2";
  if (level == 3) {
    return {name, CheckState::kFail, "3", "PAPI 7.0 counts nothing at level 3, not even for root",
            fix};
  }
  if (level > 3) {
    const bool root = facts.effective_uid == 0;
    return {name, root ? CheckState::kWarn : CheckState::kFail, std::to_string(level),
            "only root may count at this level", fix};
  }
  return Ok(name, std::to_string(level));
}

bool HasCapability(const SystemFacts& facts, int capability) {
  return ((facts.effective_capabilities.value_or(0) >> capability) & 1U) != 0;
}

Check Capability(const SystemFacts& facts) {
  const std::string name = "capability";
  if (!facts.effective_capabilities.has_value()) {
    return NotTold(name);
  }
  if (HasCapability(facts, CAP_PERFMON) || HasCapability(facts, CAP_SYS_ADMIN)) {
    return Ok(name, HasCapability(facts, CAP_PERFMON) ? "CAP_PERFMON" : "CAP_SYS_ADMIN");
  }
  // Up to level 1 the kernel lets every user count in kernel mode.
  if (facts.perf_event_paranoid.value_or(2) <= 1) {
    return Ok(name, "none, and none is needed at this perf_event_paranoid");
  }
  return {name, CheckState::kWarn, "neither CAP_PERFMON nor CAP_SYS_ADMIN",
          "context switches and migrations cannot be counted",
          "sudo sysctl kernel.perf_event_paranoid=1"};
}

Check Seccomp(const SystemFacts& facts) {
  const std::string name = "seccomp";
  if (!facts.seccomp_mode.has_value()) {
    return NotTold(name);
  }
  if (*facts.seccomp_mode == 0) {
    return Ok(name, "off");
  }
  if (facts.hardware_event_errno != EPERM && facts.software_event_errno != EPERM) {
    return Ok(name, "on, and it lets perf_event_open pass");
  }
  return {name, CheckState::kFail, "on, and perf_event_open is forbidden",
          "container runtimes forbid perf_event_open unless they are told otherwise",
          "docker run --cap-add PERFMON ..."};
}

Check NmiWatchdog(const SystemFacts& facts) {
  const std::string name = "NMI watchdog";
  if (!facts.nmi_watchdog.has_value()) {
    return NotTold(name);
  }
  if (*facts.nmi_watchdog == 0 || facts.hardware_event_errno != 0) {
    return Ok(name, *facts.nmi_watchdog == 0 ? "off" : "on, which costs nothing without a PMU");
  }
  return {name, CheckState::kWarn, "on", "it holds one hardware counter on each CPU",
          "sudo sysctl kernel.nmi_watchdog=0"};
}

Check Governor(const SystemFacts& facts) {
  const std::string name = "frequency governor";
  if (facts.governor.empty()) {
    return NotTold(name);
  }
  if (facts.governor == "performance") {
    return Ok(name, facts.governor);
  }
  return {name, CheckState::kWarn, facts.governor,
          "the clock changes while a run measures, and results spread",
          "sudo cpupower frequency-set -g performance"};
}

Check Smt(const SystemFacts& facts) {
  if (facts.smt.empty()) {
    return NotTold("SMT");
  }
  if (facts.smt != "on") {
    return Ok("SMT", facts.smt);
  }
  return {"SMT", CheckState::kWarn, "on",
          "a busy sibling thread shares caches and execution units with the one that measures",
          "echo off | sudo tee /sys/devices/system/cpu/smt/control"};
}

Check OpenFiles(const SystemFacts& facts) {
  const std::string name = "open files";
  if (!facts.open_files_limit.has_value()) {
    return NotTold(name);
  }
  // At most 32 events for each thread of the team, and as many files again for the rest.
  const int64_t wanted = 32 * static_cast<int64_t>(facts.cpu_count) + 256;
  const std::string found = std::to_string(*facts.open_files_limit);
  if (*facts.open_files_limit >= wanted) {
    return Ok(name, found);
  }
  return {name, CheckState::kWarn, found,
          "every event of every thread is an open file, and they may run out",
          fmt::format("ulimit -n {}", wanted)};
}

Check Load(const SystemFacts& facts) {
  if (!facts.load_average.has_value()) {
    return NotTold("load");
  }
  const std::string found = fmt::format("{:.2f} on {} CPUs", *facts.load_average, facts.cpu_count);
  // Half a CPU of other work is where two-thread runs begin to spread.
  if (*facts.load_average < 0.5) {
    return Ok("load", found);
  }
  return {"load", CheckState::kWarn, found,
          "other programs share caches, memory and clock with what is measured",
          "ps -eo pcpu,pid,comm --sort=-pcpu | head"};
}

Check HugePages(const SystemFacts& facts) {
  const std::string name = "transparent huge pages";
  if (facts.huge_pages.empty()) {
    return NotTold(name);
  }
  if (facts.huge_pages != "never") {
    return Ok(name, facts.huge_pages);
  }
  return {name, CheckState::kWarn, facts.huge_pages,
          "large weights cost more address translation than they need to",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

Check Hypervisor(const SystemFacts& facts) {
  if (!facts.virtualized) {
    return Ok("hypervisor", "none");
  }
  return {"hypervisor", CheckState::kWarn, "this is a virtual machine",
          "other guests share the hardware, so times spread and may halve without notice", ""};
}

}  // namespace

std::string_view Name(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kWarn:
      return "warn";
    case CheckState::kFail:
      return "fail";
  }
  return "fail";
}

std::vector<DiagnosticCheck> Judge(const SystemFacts& facts) {
  return {HardwareCounters(facts),
          SoftwareEvents(facts),
          Papi(facts),
          Paranoid(facts),
          Capability(facts),
          Seccomp(facts),
          NmiWatchdog(facts),
          Hypervisor(facts),
          Governor(facts),
          Smt(facts),
          OpenFiles(facts),
          Load(facts),
          HugePages(facts)};
}

std::vector<DiagnosticCheck> Diagnose(const SystemProbe& probe) {
  return Judge(GatherFacts(probe));
}

}  // namespace tinyprof
