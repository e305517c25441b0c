// Makes a Kernel of a naive loop.
//
// Each family's reference.h holds its loops as templates on the scalar: float is what `--backend
// reference` runs, double is the truth that every other kernel is tested against, and the tests run
// a counting scalar through the same loops to check the cost rules.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <type_traits>

#include "kernels/ops/kernel.h"

namespace tinyprof {

// args.In<T>() and args.Out<T>() hold the floating-point operands; integer operands have their own
// type.
using ReferenceFn = void (*)(const NodeSignature& signature, const KernelArgs& args);

template <ReferenceFn fn>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const NodeSignature& signature) : signature_(signature) {}
  std::string implementation() const override { return "naive"; }
  void Run(const KernelArgs& args) const noexcept override { fn(signature_, args); }

 private:
  NodeSignature signature_;
};

// The factory for `fn`, a loop over scalars of type T. Refuses floating-point operands of another
// type and small integers (make_kernel.h widens them).
template <class T, ReferenceFn fn>
Result<std::unique_ptr<Kernel>> MakeReferenceKernel(const NodeSignature& signature,
                                                    const KernelOptions& /*options*/) {
  constexpr DType kWanted = std::is_same_v<T, double> ? DType::kFloat64 : DType::kFloat32;
  const auto refused = [](const TensorType& type) {
    return type.dtype != kWanted &&
           (type.dtype == DType::kFloat32 || type.dtype == DType::kFloat64 ||
            type.dtype == DType::kFloat16 || type.dtype == DType::kBFloat16 ||
            type.dtype == DType::kInt8 || type.dtype == DType::kUInt8);
  };
  const auto no_kernel = [&](const TensorType& type) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                fmt::format("{} has no kernel for {}", signature.node->op_type, Name(type.dtype)));
  };
  for (const NodeSignature::Input& input : signature.inputs) {
    if (input.present && refused(input.type)) return no_kernel(input.type);
  }
  for (const TensorType& output : signature.outputs) {
    if (refused(output)) return no_kernel(output);
  }
  return std::make_unique<ReferenceKernel<fn>>(signature);
}

}  // namespace tinyprof
