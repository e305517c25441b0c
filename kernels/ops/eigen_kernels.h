// The default kernels, compiled once for each ISA from the same sources.
#pragma once

#include <span>
#include <string_view>

#include "kernels/ops/kernel.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {

// One line for each operator in a family's eigen.cc.
struct EigenKernel {
  std::string_view op_type;
  KernelFactory factory;
  bool takes_fused = false;  // whether it knows fused nodes that begin with the operator
};

// The kernel of that operator for that ISA, or null. The ISA is compiled in if HostIsas() has it.
const EigenKernel* FindEigenKernel(Isa isa, std::string_view op_type);

}  // namespace tinyprof
