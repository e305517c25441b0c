// The bottleneck rule of the TinyTorch course, for people who come from it.
#pragma once

#include <string_view>

namespace tinyprof {

enum class TinyTorchBottleneck { kMemory, kCompute };
// "memory", "compute".
std::string_view Name(TinyTorchBottleneck bottleneck);

// memory when memory_bandwidth_mbs > gflops_per_second * 100, else compute: a fixed ridge of 10
// FLOP per byte in the course's units (10^9 FLOP/s, 2^20 bytes/s), whatever the machine.
TinyTorchBottleneck TinyTorchRule(double gflops_per_second, double memory_bandwidth_mbs);

}  // namespace tinyprof
