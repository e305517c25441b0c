#include "daemon/roofline/tinytorch_rule.h"

namespace tinyprof {

std::string_view Name(TinyTorchBottleneck bottleneck) {
  return bottleneck == TinyTorchBottleneck::kMemory ? "memory" : "compute";
}

TinyTorchBottleneck TinyTorchRule(double gflops_per_second, double memory_bandwidth_mbs) {
  return memory_bandwidth_mbs > gflops_per_second * 100 ? TinyTorchBottleneck::kMemory
                                                        : TinyTorchBottleneck::kCompute;
}

}  // namespace tinyprof
