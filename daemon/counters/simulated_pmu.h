// Whether this process counts on silicon or on a stand-in for it.
#pragma once

namespace tinyprof {

// The name of every backend whose counts come from a stand-in or a script.
inline constexpr const char* kSimulatedBackend = "simulated";

// True when a stand-in PMU is loaded (by the symbol that it exports), or when the system calls that
// open events do not go to the C library, whatever has taken its place. Looked up in what is
// loaded, so that no file or environment variable can hide it.
bool PmuIsSimulated();

}  // namespace tinyprof
