#include "kernels/ops/matmul/eigen_product.h"

#include <utility>

#include "kernels/ops/eigen_families.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

Result<BatchedProduct> BatchedProduct::Create(int64_t batch, int64_t m, int64_t n, int64_t k,
                                              int threads) {
  TINYPROF_ASSIGN_OR_RETURN(Shape a, Shape::Create({batch, m, k}));
  TINYPROF_ASSIGN_OR_RETURN(Shape b, Shape::Create({batch, k, n}));
  TINYPROF_ASSIGN_OR_RETURN(Shape c, Shape::Create({batch, m, n}));
  const Node node{.op_type = "MatMul"};
  NodeSignature signature{.node = &node, .inputs = {}, .outputs = {}};
  BatchedProduct product;
  product.inputs_ = {ConstTensorView{.type = {DType::kFloat32, a}},
                     ConstTensorView{.type = {DType::kFloat32, b}}};
  product.outputs_ = {TensorView{.type = {DType::kFloat32, c}}};
  for (const ConstTensorView& input : product.inputs_) {
    signature.inputs.push_back({.type = input.type, .present = true});
  }
  signature.outputs.push_back(product.outputs_[0].type);
  TINYPROF_ASSIGN_OR_RETURN(product.kernel_,
                            MatmulEigenKernels()[0].factory(signature, {.threads = threads}));
  return product;
}

void BatchedProduct::Run(const float* a, const float* b, float* c,
                         std::span<std::byte> scratch) const {
  inputs_[0].data = a;
  inputs_[1].data = b;
  outputs_[0].data = c;
  kernel_->Run({.inputs = inputs_, .outputs = outputs_, .scratch = scratch});
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
