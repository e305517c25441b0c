// The table of operators that move elements. They cost no FLOPs.
#include <array>

#include "kernels/ops/families.h"
#include "kernels/ops/shape/copy.h"
#include "kernels/ops/shape/infer.h"
#include "kernels/ops/shape/kernels.h"

namespace tinyprof {
namespace {

// What ONNX allows for Concat.
constexpr size_t kAnyNumberOfInputs = 2147483647;

Result<Cost> NoFlops(const NodeSignature& /*signature*/) { return Cost{}; }

int64_t WholeInput(const NodeSignature& signature, size_t index) {
  return signature.input(index).byte_size();
}

// Shape looks at the type of its input only.
int64_t NothingOfTheData(const NodeSignature& /*signature*/, size_t /*index*/) { return 0; }

// Slice reads what it keeps.
int64_t OutputOfTheData(const NodeSignature& signature, size_t index) {
  return index == 0 ? signature.output().byte_size() : WholeInput(signature, index);
}

using InferRule = Result<Types> (*)(const NodeSignature& signature, size_t output_count);

constexpr Operator Mover(std::string_view type, size_t min_inputs, size_t max_inputs,
                         InferRule infer, KernelFactory kernel,
                         int64_t (*bytes_read)(const NodeSignature&, size_t) = nullptr) {
  return {type, min_inputs, max_inputs, infer, &NoFlops, kernel, kernel, bytes_read};
}

constexpr std::array kOperators = {
    Mover("Reshape", 1, 2, &InferReshape, &MakeCopyKernel),
    Mover("Flatten", 1, 1, &InferFlatten, &MakeCopyKernel),
    Mover("Squeeze", 1, 2, &InferSqueeze, &MakeCopyKernel),
    Mover("Unsqueeze", 1, 2, &InferUnsqueeze, &MakeCopyKernel),
    Mover("Transpose", 1, 1, &InferTranspose, &MakeTransposeKernel),
    Mover("Expand", 2, 2, &InferExpand, &MakeExpandKernel),
    Mover("Slice", 1, 5, &InferSlice, &MakeSliceKernel, &OutputOfTheData),
    Mover("DepthToSpace", 1, 1, &InferDepthToSpace, &MakeDepthToSpaceKernel),
    Mover("SpaceToDepth", 1, 1, &InferSpaceToDepth, &MakeSpaceToDepthKernel),
    Mover("Concat", 1, kAnyNumberOfInputs, &InferConcat, &MakeConcatKernel),
    Mover("Split", 1, 2, &InferSplit, &MakeSplitKernel),
    Mover("Tile", 2, 2, &InferTile, &MakeTileKernel),
    Mover("Pad", 1, 4, &InferPad, &MakePadKernel),
    Mover("Shape", 1, 1, &InferShape, &MakeShapeKernel, &NothingOfTheData),
    Mover("ConstantOfShape", 1, 1, &InferConstantOfShape, &MakeConstantOfShapeKernel),
};

}  // namespace

std::span<const Operator> ShapeOperators() { return kOperators; }

}  // namespace tinyprof
