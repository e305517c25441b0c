// What a worker takes from itself before it touches anything that came from outside.
//
// The worker keeps: memory up to its limit, threads, reading files, counting its own events, its
// socket. It loses: new privileges, new programs and processes, the network, signals to others,
// writing files, and life beyond that of the daemon.
#pragma once

#include <cstdint>

#include "kernels/base/error.h"

namespace tinyprof {

struct SandboxOptions {
  int64_t address_space_bytes = INT64_MAX;  // INT64_MAX: no limit
  bool filter_system_calls = true;
};

// Irreversible; called by a process with one thread. FAILED_PRECONDITION / "SANDBOX_FAILED".
Status EnterSandbox(const SandboxOptions& options);

// The address space for weights and arena of `memory_limit_bytes`, `threads` threads and a model
// file of `model_file_bytes` that is mapped and copied; INT64_MAX when the sum passes 2^63.
int64_t AddressSpaceFor(int64_t memory_limit_bytes, int threads, int64_t model_file_bytes);

}  // namespace tinyprof
