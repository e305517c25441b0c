// The products of 8-bit integers with a kernel for each ISA; eigen.cc names them.
#pragma once

#include "kernels/ops/kernel.h"
#include "kernels/ops/quantize/product_dims.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// MatMulInteger and QLinearMatMul. A right operand that is a weight is packed once.
Result<std::unique_ptr<Kernel>> MakeIntMatmul(const NodeSignature& signature,
                                              const ProductRoles& roles, int threads);

// ConvInteger and QLinearConv: the weights times the unfolded input, a tile of places at a time.
// Weights are packed once. Depthwise ones are left to eigen_int_depthwise.h.
Result<std::unique_ptr<Kernel>> MakeIntConv(const NodeSignature& signature,
                                            const ProductRoles& roles, int threads);

// "NO_KERNEL" unless both operands are int8 or uint8.
Status CheckBytes(const NodeSignature& signature, const ProductRoles& roles);

// A weight whose zero points are known too can be packed before the run.
inline bool IsPackable(const NodeSignature& signature, const ProductRoles& roles) {
  return signature.inputs[roles.w].data != nullptr &&
         (!signature.has_input(roles.w_zero) || signature.inputs[roles.w_zero].data != nullptr);
}

// The zero points of an operand: one, one for each of its channels, or none, which is 0.
class ZeroPoints {
 public:
  // Those of an input as the run has it.
  ZeroPoints(const KernelArgs& args, size_t index) {
    if (args.has_input(index)) Set(args.inputs[index].type, args.inputs[index].data);
  }
  // Those of an input that is known before the run.
  ZeroPoints(const NodeSignature& signature, size_t index) {
    if (signature.has_input(index)) Set(signature.input(index), signature.inputs[index].data);
  }

  int16_t at(int64_t channel) const {
    if (data_ == nullptr) return 0;
    const int64_t index = is_single_ ? 0 : channel;
    return is_int8_ ? static_cast<int16_t>(static_cast<const int8_t*>(data_)[index])
                    : static_cast<int16_t>(static_cast<const uint8_t*>(data_)[index]);
  }

 private:
  void Set(const TensorType& type, const void* data) {
    data_ = data;
    is_int8_ = type.dtype == DType::kInt8;
    is_single_ = type.shape.element_count() == 1;
  }

  const void* data_ = nullptr;
  bool is_int8_ = false;
  bool is_single_ = false;
};

// Calls `run` with a null pointer to the element type of an int8 or uint8.
template <class Run>
void WithByteType(DType dtype, const Run& run) {
  if (dtype == DType::kInt8) {
    run(static_cast<const int8_t*>(nullptr));
  } else {
    run(static_cast<const uint8_t*>(nullptr));
  }
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
