// What the kernel says when an event is opened.
#pragma once

#include <string>
#include <vector>

#include "daemon/counters/system_facts.h"

namespace tinyprof {

// The errno of perf_event_open for a hardware instructions event of the calling thread in user
// mode; 0 when that opens, or one of cycles. ENOENT: the kernel has no PMU driver for this machine.
int OpenHardwareEventErrno();
int OpenSoftwareEventErrno();

// Tries an event of each kind, and where the answer does not tell, whether the call gets to the
// kernel: `facts` has events_off, hardware_event_errno, software_event_errno and
// call_reaches_kernel then.
void TryEvents(const SystemProbe& probe, SystemFacts& facts);

// The generic events that do not open, of those that counting FLOPs, cycles and misses builds on.
std::vector<std::string> MissingEvents(const SystemProbe& probe);

}  // namespace tinyprof
