#include <fmt/format.h>

#include <algorithm>

#include "daemon/counters/checks.h"
#include "kernels/base/cpu_list.h"
#include "kernels/base/words.h"

namespace tinyprof {
namespace {

using Check = DiagnosticCheck;

Check Hypervisor(const SystemFacts& facts) {
  if (!facts.virtualized) {
    return CheckOk("hypervisor", "none");
  }
  return CheckUnmendable(
      "hypervisor", CheckState::kWarn, "this is a virtual machine",
      "other guests share the hardware, so times spread and may halve without notice",
      "only the host decides who shares it");
}

Check Governor(const SystemFacts& facts) {
  const std::string name = "frequency governor";
  if (facts.governor.empty()) {
    return CheckNotTold(name);
  }
  if (facts.governor == "performance") {
    return CheckOk(name, facts.governor);
  }
  return {name, CheckState::kWarn, facts.governor,
          "the clock changes while a run measures, and results spread",
          "sudo cpupower frequency-set -g performance"};
}

Check Smt(const SystemFacts& facts) {
  if (facts.smt.empty()) {
    return CheckNotTold("SMT");
  }
  if (facts.smt != "on") {
    return CheckOk("SMT", facts.smt);
  }
  return {"SMT", CheckState::kWarn, "on",
          "a busy sibling thread shares caches and execution units with the one that measures",
          "echo off | sudo tee /sys/devices/system/cpu/smt/control"};
}

Check SmtSibling(const SystemFacts& facts) {
  const std::string name = "SMT sibling";
  if (!facts.busy_siblings.has_value()) {
    return CheckSkipped(name, "not watched");
  }
  if (facts.busy_siblings->empty()) {
    return CheckOk(name, "no CPU shares its core with a busy one");
  }
  std::string busy;
  for (const BusySibling& pair : *facts.busy_siblings) {
    busy += fmt::format("{}CPU {} shares its core with CPU {}, which is {:.0f} % busy",
                        busy.empty() ? "" : ", ", pair.cpu, pair.sibling, 100 * pair.utilisation);
  }
  return {name, CheckState::kWarn, busy,
          "the other program takes execution units, caches and, on Intel, half of the counters of "
          "the core",
          "echo off | sudo tee /sys/devices/system/cpu/smt/control"};
}

bool AreOfOneType(const SystemFacts& facts) {
  const auto all_in = [&](const std::string& list) {
    const auto cpus = ParseCpuList(list);
    return cpus.has_value() &&
           std::all_of(facts.measurement_cpus.begin(), facts.measurement_cpus.end(), [&](int cpu) {
             return std::find(cpus->begin(), cpus->end(), cpu) != cpus->end();
           });
  };
  return !facts.measurement_cpus.empty() && (all_in(facts.core_cpus) || all_in(facts.atom_cpus));
}

Check CoreTypes(const SystemFacts& facts) {
  const std::string name = "core types";
  const std::string why =
      "a thread that moves between kinds of cores is counted by one of them only, and PAPI 7.0 "
      "counts nothing on such CPUs";
  if (!facts.core_cpus.empty() && !facts.atom_cpus.empty() && AreOfOneType(facts)) {
    return CheckOk(name, "the CPUs that measure are of one kind");
  }
  if (!facts.core_cpus.empty() && !facts.atom_cpus.empty()) {
    return {name, CheckState::kWarn,
            fmt::format("cpu_core {}, cpu_atom {}", facts.core_cpus, facts.atom_cpus), why,
            "tinyprofd --cpus " + facts.core_cpus};
  }
  if (facts.capacities.size() > 1) {
    std::string found;
    for (const int64_t capacity : facts.capacities) {
      found += fmt::format("{}{}", found.empty() ? "capacities " : ", ", capacity);
    }
    return {name, CheckState::kWarn, found, why,
            fmt::format("tinyprofd --cpus $(grep -lx {} /sys/devices/system/cpu/cpu*/cpu_capacity "
                        "| tr -dc '0-9\\n' | paste -sd,)",
                        facts.capacities.front())};
  }
  return CheckOk(name, "one kind");
}

Check Load(const SystemFacts& facts) {
  if (!facts.load_average.has_value()) {
    return CheckNotTold("load");
  }
  const std::string found =
      fmt::format("{:.2f} on {}", *facts.load_average, Counted(facts.cpu_count, "CPU"));
  // Half a CPU of other work is where two-thread runs begin to spread.
  if (*facts.load_average < 0.5) {
    return CheckOk("load", found);
  }
  return {"load", CheckState::kWarn, found,
          "other programs share caches, memory and clock with what is measured",
          "ps -eo pcpu,pid,comm --sort=-pcpu | head"};
}

Check HugePages(const SystemFacts& facts) {
  const std::string name = "transparent huge pages";
  if (facts.huge_pages.empty()) {
    return CheckNotTold(name);
  }
  if (facts.huge_pages != "never") {
    return CheckOk(name, facts.huge_pages);
  }
  return {name, CheckState::kWarn, facts.huge_pages,
          "large weights cost more address translation than they need to",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

}  // namespace

std::vector<DiagnosticCheck> CheckQuietness(const SystemFacts& facts) {
  return {Hypervisor(facts), Governor(facts), Smt(facts),      SmtSibling(facts),
          CoreTypes(facts),  Load(facts),     HugePages(facts)};
}

}  // namespace tinyprof
