// MatMul and Gemm: types, costs and naive kernels.
#include <array>

#include "kernels/ops/cost_math.h"
#include "kernels/ops/families.h"
#include "kernels/ops/matmul/determinant.h"
#include "kernels/ops/matmul/reference.h"

namespace tinyprof {
namespace {

Result<std::vector<TensorType>> InferMatmul(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(MatmulShape shape, MatmulShapeOf(signature));
  return std::vector<TensorType>{{signature.input(0).dtype, std::move(shape.output)}};
}

Result<Cost> MatmulCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const MatmulShape shape, MatmulShapeOf(signature));
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(cost.flops.mac,
                            CheckedProduct({shape.batch_count, shape.m, shape.n, shape.k}));
  cost.valid_tap_mac_count = cost.flops.mac;
  return cost;
}

Result<std::vector<TensorType>> InferGemm(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const GemmShape shape, GemmShapeOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(Shape output, Shape::Create({shape.m, shape.n}));
  return std::vector<TensorType>{{signature.input(0).dtype, std::move(output)}};
}

// One add for each output with a bias; a factor that is not 1 costs a multiply for each output.
Result<Cost> GemmCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const GemmShape shape, GemmShapeOf(signature));
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(cost.flops.mac, CheckedProduct({shape.m, shape.n, shape.k}));
  cost.valid_tap_mac_count = cost.flops.mac;
  const int64_t output_count = shape.m * shape.n;
  if (shape.has_bias) cost.flops.bias = output_count;
  if (shape.alpha != 1) cost.flops.add_mul_div += output_count;
  if (shape.has_bias && shape.beta != 1) cost.flops.add_mul_div += output_count;
  return cost;
}

constexpr std::array kOperators = {
    Operator{.type = "MatMul",
             .min_inputs = 2,
             .max_inputs = 2,
             .infer = InferMatmul,
             .cost = MatmulCost,
             .reference = MakeReferenceKernel<float, MatmulReference<float>>,
             .reference_f64 = MakeReferenceKernel<double, MatmulReference<double>>},
    Operator{.type = "Gemm",
             .min_inputs = 2,
             .max_inputs = 3,
             .infer = InferGemm,
             .cost = GemmCost,
             .reference = MakeReferenceKernel<float, GemmReference<float>>,
             .reference_f64 = MakeReferenceKernel<double, GemmReference<double>>},
    Operator{.type = "Det",
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = InferDet,
             .cost = DetCost,
             .reference = MakeDet<float>,
             .reference_f64 = MakeDet<double>},
};

}  // namespace

std::span<const Operator> MatmulOperators() { return kOperators; }

}  // namespace tinyprof
