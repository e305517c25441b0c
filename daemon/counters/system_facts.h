// What the kernel tells about counting and about how quiet the machine is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "daemon/counters/counter_backend.h"

namespace tinyprof {

// Where facts come from. The defaults ask this machine; tests give a folder of files and answers.
struct SystemProbe {
  std::string root = "/";  // proc/ and sys/ are looked up below it
  // The errno of opening one hardware (instructions) and one software (page faults) event of the
  // calling thread, user mode only; 0 when it opens. Empty: ask the kernel.
  std::function<int()> open_hardware_event;
  std::function<int()> open_software_event;
  BackendInfo backend;  // of the counter backend in use; empty name: PAPI was not asked
};

// Absent: the kernel does not tell, or the file cannot be read.
struct SystemFacts {
  int hardware_event_errno = 0;
  int software_event_errno = 0;
  BackendInfo backend;
  bool virtualized = false;
  std::optional<int> perf_event_paranoid;
  std::optional<int> nmi_watchdog;
  std::optional<int> seccomp_mode;  // 0 off, 1 strict, 2 filter
  std::optional<uint64_t> effective_capabilities;
  std::optional<int> effective_uid;
  std::string governor;    // empty: the kernel does not tell
  std::string smt;         // "on", "off", "notsupported", ...; empty: the kernel does not tell
  std::string huge_pages;  // "always", "madvise", "never"; empty: the kernel does not tell
  std::optional<double> load_average;  // one minute
  std::optional<int64_t> open_files_limit;
  int cpu_count = 0;
};

SystemFacts GatherFacts(const SystemProbe& probe);

// The errno of perf_event_open for a hardware instructions event of the calling thread in user
// mode; 0 when it opens. ENOENT: the kernel has no PMU driver for this machine.
int OpenHardwareEventErrno();
int OpenSoftwareEventErrno();

}  // namespace tinyprof
