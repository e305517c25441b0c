#include "kernels/ops/reduce/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/ops/dtypes.h"
#include "kernels/ops/families.h"
#include "kernels/ops/reduce/along_axis.h"
#include "kernels/ops/reduce/cost.h"
#include "kernels/ops/reduce/reference.h"

namespace tinyprof {
namespace {

using Types = std::vector<TensorType>;

bool IsArgMinMax(const NodeSignature& signature) {
  return signature.node->op_type == "ArgMax" || signature.node->op_type == "ArgMin";
}

bool Contains(const std::vector<size_t>& axes, size_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Result<Shape> ReducedShape(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 0));
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<size_t> axes, ReducedAxesOf(signature));
  const bool keep = signature.Int("keepdims", 1) != 0;
  std::vector<int64_t> dims;
  int64_t folded = 1;
  for (size_t d = 0; d < shape.rank(); ++d) {
    const bool reduced = Contains(axes, d);
    if (reduced) folded *= shape[d];
    if (!reduced || keep) dims.push_back(reduced ? 1 : shape[d]);
  }
  Shape out(std::move(dims));
  if (folded == 0 && out.element_count() > 0) {
    return ShapeMismatch(signature, fmt::format("shape {} has no elements along the reduced axes",
                                                shape.ToString()));
  }
  return out;
}

Result<Types> InferReduceFloat(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_ASSIGN_OR_RETURN(Shape shape, ReducedShape(signature));
  return Types{{signature.input(0).dtype, std::move(shape)}};
}

Result<Types> InferReduceNumber(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(Shape shape, ReducedShape(signature));
  return Types{{signature.input(0).dtype, std::move(shape)}};
}

Result<Types> InferArgMax(const NodeSignature& signature, size_t output_count) {
  TINYPROF_ASSIGN_OR_RETURN(Types types, InferReduceNumber(signature, output_count));
  types[0].dtype = DType::kInt64;
  return types;
}

template <class Op>
constexpr Operator Reduction(std::string_view type) {
  return {type,
          1,
          2,
          Op::kIntegers ? &InferReduceNumber : &InferReduceFloat,
          &ReduceCost<Op>,
          &MakeReduceReference<float, Op>,
          &MakeReduceReference<double, Op>};
}

constexpr std::array kOperators = {
    Reduction<FoldSum>("ReduceSum"),
    Reduction<FoldMean>("ReduceMean"),
    Reduction<FoldMax>("ReduceMax"),
    Reduction<FoldMin>("ReduceMin"),
    Reduction<FoldProduct>("ReduceProd"),
    Reduction<FoldL2>("ReduceL2"),
    Reduction<FoldL1>("ReduceL1"),
    Reduction<FoldSumSquare>("ReduceSumSquare"),
    Reduction<FoldLogSum>("ReduceLogSum"),
    Reduction<FoldLogSumExp>("ReduceLogSumExp"),
    Operator{"ArgMax", 1, 1, &InferArgMax, &ArgMaxCost, &MakeArgMinMaxKernel, &MakeArgMinMaxKernel},
    Operator{"ArgMin", 1, 1, &InferArgMax, &ArgMaxCost, &MakeArgMinMaxKernel, &MakeArgMinMaxKernel},
    Operator{"CumSum", 2, 2, &InferCumSum, &CumSumCost, &MakeCumSumKernel, &MakeCumSumKernel},
    Operator{"TopK", 1, 2, &InferTopK, &TopKCost, &MakeTopKKernel, &MakeTopKKernel},
    Operator{"Hardmax", 1, 1, &InferHardmax, &HardmaxCost, &MakeHardmaxKernel, &MakeHardmaxKernel},
};

}  // namespace

Result<std::vector<size_t>> ReducedAxesOf(const NodeSignature& signature) {
  const size_t rank = signature.input(0).shape.rank();
  if (IsArgMinMax(signature)) return NormalizeAxes(signature, {signature.Int("axis", 0)}, rank);
  std::vector<int64_t> axes;
  if (signature.has_attribute("axes") || signature.has_input(1)) {
    TINYPROF_ASSIGN_OR_RETURN(axes, KnownInts(signature, "axes", 1, "axes"));
  }
  if (axes.empty() && signature.Int("noop_with_empty_axes", 0) == 0) {
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  }
  return NormalizeAxes(signature, axes, rank);
}

Result<ReducePlan> ReducePlanOf(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<size_t> axes, ReducedAxesOf(signature));
  std::array<std::vector<int64_t>, 2> dims;
  std::array<std::vector<int64_t>, 2> strides;
  for (size_t d = 0; d < shape.rank(); ++d) {
    const size_t group = Contains(axes, d) ? 1 : 0;
    dims[group].push_back(shape[d]);
    strides[group].push_back(shape.stride(d));
  }
  return ReducePlan{.kept = PlanStrided(dims[0], strides[0]),
                    .reduced = PlanStrided(dims[1], strides[1])};
}

std::span<const Operator> ReduceOperators() { return kOperators; }

}  // namespace tinyprof
