// The counter backend for this host.
#pragma once

#include <memory>
#include <string>

#include "daemon/counters/counter_backend.h"
#include "daemon/counters/raw_event.h"

namespace tinyprof {

// What is known of this CPU's events beside PAPI's and the kernel's names for them.
struct CpuEvents {
  std::string pmu;           // the name under which its formulas are found; empty: none
  RawEventResolver resolve;  // may be empty
};

// The catalogue's, for the CPU of `root`/proc/cpuinfo.
CpuEvents HostCpuEvents(const std::string& root = "/");

// PAPI where it counts hardware events; the kernel directly where only PAPI cannot (a CPU that
// libpfm4 does not know, a perf_event_paranoid that PAPI does not take); else PAPI, whose info()
// says why nothing is counted. As MakePapiBackend: never fails, called on the master of the team.
std::unique_ptr<CounterBackend> MakeHostBackend(int max_threads,
                                                CpuEvents events = HostCpuEvents());

enum class BackendChoice { kPapi, kPerfEvent };
// `hardware_event_errno`: of the raw probe (OpenHardwareEventErrno). Pure.
BackendChoice ChooseBackend(const BackendInfo& papi, int hardware_event_errno);

}  // namespace tinyprof
