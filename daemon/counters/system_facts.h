// What the kernel tells about counting and about how quiet the machine is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/counter_errors.h"
#include "daemon/counters/cpu_family.h"
#include "daemon/counters/system_watch.h"

namespace tinyprof {

// Where facts come from. The defaults ask this machine; tests give a folder of files and answers.
struct SystemProbe {
  std::string root = "/";  // proc/ and sys/ are looked up below it
  // The errno of opening one hardware (instructions) and one software (page faults) event of the
  // calling thread, user mode only; 0 when it opens. Empty: ask the kernel.
  std::function<int()> open_hardware_event;
  std::function<int()> open_software_event;
  // The same for a generic hardware event, by the kernel's number (PERF_COUNT_HW_...).
  std::function<int(uint64_t config)> open_generic_event;
  // Whether the counters of all memory controllers open.
  std::function<Status()> open_memory_controllers;
  // Whether perf_event_open is refused by the kernel itself when its flags are nonsense.
  std::function<bool()> call_reaches_kernel;
  // Why no event may be opened (events_off.h). Absent: they may be.
  std::optional<Refusal> events_off;
  // The value of an environment variable, null when it is not set. Empty: ask this process.
  std::function<const char*(const char* name)> environment;
  BackendInfo backend;  // of the counter backend in use; empty name: PAPI was not asked
  std::vector<int> measurement_cpus;  // whose facts count; empty: those of all CPUs do
  int daemon_pid = 0;  // whose own processes hold no foreign event; 0: this one's alone

  // Also what takes a tenth of a second: the programs that hold perf events, the load of each CPU,
  // the generic events and the memory controllers.
  bool thorough = false;
  std::function<void()> pause;  // between two looks at the load; empty: sleeps a tenth of a second
};

// A variable that changes what PAPI or libpfm4 do.
struct EnvironmentFact {
  std::string name;
  std::string value;
  // Of the file that the value names, where it names one.
  std::optional<std::string> file_text;
  std::string file_kind;  // "a FIFO", ... where it names no regular file
};
// A value that names a file; PAPI takes an empty one as none.
bool NamesFile(const EnvironmentFact& variable);

// Absent: the kernel does not tell, or the file cannot be read.
struct SystemFacts {
  int hardware_event_errno = 0;
  int software_event_errno = 0;
  BackendInfo backend;
  bool virtualized = false;
  CpuFamily cpu_family = CpuFamily::kGeneric;
  std::string cpu_model;  // "AMD EPYC 9B14 (family 25, model 17)"; empty: the kernel does not tell
  std::optional<int> perf_event_paranoid;
  bool has_paranoid_file = false;  // whatever is in it
  std::optional<int> nmi_watchdog;
  std::optional<int> seccomp_mode;  // 0 off, 1 strict, 2 filter
  // As RefusalContext; asked only where the call was refused in a way that does not tell.
  std::optional<bool> call_reaches_kernel;
  std::string container;
  std::optional<Refusal> events_off;  // then nothing of events was tried
  std::optional<uint64_t> effective_capabilities;
  std::optional<int> effective_uid;
  // Of the measurement CPUs, "a, b" where they differ; empty: the kernel does not tell.
  std::string governor;
  std::string smt;         // "on", "off", "notsupported", ...; empty: the kernel does not tell
  std::string huge_pages;  // "always", "madvise", "never"; empty: the kernel does not tell
  std::optional<double> load_average;  // one minute
  std::optional<int64_t> open_files_limit;
  std::optional<int64_t> system_files_limit;
  std::vector<int> measurement_cpus;  // empty: any
  int cpu_count = 0;
  // Of a CPU with two kinds of cores; empty: there is one kind, or the kernel does not tell.
  std::string core_cpus;                     // "0-7"
  std::string atom_cpus;                     // "8-15"
  std::vector<int64_t> capacities;           // the different ones, the greatest first
  std::vector<EnvironmentFact> environment;  // those that are set

  // Absent unless the probe is thorough.
  std::optional<PerfUsers> perf_users;
  std::optional<std::vector<BusySibling>> busy_siblings;
  std::optional<std::vector<std::string>> missing_events;  // generic ones that the kernel refuses
  std::optional<Status> memory_controllers;                // as UncoreMemoryTraffic::Open
};

SystemFacts GatherFacts(const SystemProbe& probe);

// What of the facts explains a refusal.
RefusalContext ContextOf(const SystemFacts& facts);

}  // namespace tinyprof
