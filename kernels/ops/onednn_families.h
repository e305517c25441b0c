// What every family's onednn.cc exports; onednn_table.cc joins them.
#pragma once

#include <span>
#include <string_view>

#include "kernels/ops/onednn_kernels.h"

namespace tinyprof {

// One line for each operator in a family's onednn.cc.
struct OnednnKernel {
  std::string_view op_type;
  OnednnFactory factory;
  // The layouts that it would like when its inputs have those in options.layouts; throws
  // dnnl::error. Null: it takes row-major ones only.
  NodeLayouts (*layouts)(const NodeSignature& signature, const OnednnOptions& options) = nullptr;
  bool takes_fused = false;  // whether both know fused nodes
};

std::span<const OnednnKernel> MatmulOnednnKernels();
std::span<const OnednnKernel> ConvOnednnKernels();
std::span<const OnednnKernel> PoolOnednnKernels();
std::span<const OnednnKernel> NormOnednnKernels();
std::span<const OnednnKernel> SoftmaxOnednnKernels();
std::span<const OnednnKernel> ElementwiseOnednnKernels();
std::span<const OnednnKernel> ReorderOnednnKernels();
std::span<const OnednnKernel> QuantizeOnednnKernels();

}  // namespace tinyprof
