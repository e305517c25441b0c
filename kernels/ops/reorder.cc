// Reorder, the one operator that is not ONNX's: the same tensor in another layout. Only
// PlanLayouts() (kernels/runtime/layout_plan.h) makes such nodes, so no type rule infers them: a
// file that has one is refused.
#include <array>

#include "kernels/ops/families.h"

namespace tinyprof {
namespace {

Result<std::vector<TensorType>> Refuse(const NodeSignature& /*signature*/, size_t /*outputs*/) {
  return Fail(ErrorCode::kUnimplemented, "UNKNOWN_OPERATOR", "operator Reorder is not known",
              {{"operator", "Reorder"}});
}

// It moves bytes and computes nothing.
Result<Cost> NoFlops(const NodeSignature& /*signature*/) { return Cost{}; }

Result<std::unique_ptr<Kernel>> NoKernel(const NodeSignature& /*signature*/,
                                         const KernelOptions& /*options*/) {
  return Fail(ErrorCode::kUnimplemented, "NO_KERNEL", "only the backend of a layout knows it");
}

constexpr std::array kOperators = {Operator{.type = "Reorder",
                                            .min_inputs = 1,
                                            .max_inputs = 1,
                                            .infer = Refuse,
                                            .cost = NoFlops,
                                            .reference = NoKernel,
                                            .reference_f64 = NoKernel}};

}  // namespace

std::span<const Operator> ReorderOperators() { return kOperators; }

}  // namespace tinyprof
