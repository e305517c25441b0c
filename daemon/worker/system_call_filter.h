// The system calls that a worker gives up.
#pragma once

#include "kernels/base/error.h"

namespace tinyprof {

// Loads a seccomp filter into the calling thread and all threads it makes: what is denied fails
// with EPERM. Denied are new programs and processes, sockets, signals to other processes, tracing,
// mounts, modules, namespaces, keys, BPF, io_uring, and everything that writes to a file system.
// What a profiler needs stays: perf_event_open, threads, affinity, mmap, reading files.
// FAILED_PRECONDITION / "SANDBOX_FAILED".
Status FilterSystemCalls();

}  // namespace tinyprof
