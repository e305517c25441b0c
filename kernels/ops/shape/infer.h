// Type rules of the operators that only move elements, and the decoded form of their attributes and
// constant inputs, which the kernels are made from.
//
// What an operator needs to know before the run (a target shape, axes, pads) it takes from an
// attribute or an initializer; UNIMPLEMENTED / "SHAPE_NOT_KNOWN" otherwise.
#pragma once

#include <vector>

#include "kernels/ops/checks.h"

namespace tinyprof {

using Types = std::vector<TensorType>;

Result<Types> InferReshape(const NodeSignature& signature, size_t output_count);
Result<Types> InferFlatten(const NodeSignature& signature, size_t output_count);
Result<Types> InferSqueeze(const NodeSignature& signature, size_t output_count);
Result<Types> InferUnsqueeze(const NodeSignature& signature, size_t output_count);
Result<Types> InferShape(const NodeSignature& signature, size_t output_count);
Result<Types> InferConstantOfShape(const NodeSignature& signature, size_t output_count);
Result<Types> InferTranspose(const NodeSignature& signature, size_t output_count);
Result<Types> InferExpand(const NodeSignature& signature, size_t output_count);
Result<Types> InferSlice(const NodeSignature& signature, size_t output_count);
Result<Types> InferConcat(const NodeSignature& signature, size_t output_count);
Result<Types> InferSplit(const NodeSignature& signature, size_t output_count);
Result<Types> InferTile(const NodeSignature& signature, size_t output_count);
// Blocks of `blocksize` squared channels become squares of the image, and back.
Result<Types> InferDepthToSpace(const NodeSignature& signature, size_t output_count);
Result<Types> InferSpaceToDepth(const NodeSignature& signature, size_t output_count);
Result<Types> InferPad(const NodeSignature& signature, size_t output_count);

// perm[d] is the input dimension that becomes output dimension d.
Result<std::vector<size_t>> PermutationOf(const NodeSignature& signature);

// One dimension of a Slice: `count` elements from `start` on, `step` apart (negative: backwards).
struct SliceRange {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};
Result<std::vector<SliceRange>> SliceRangesOf(const NodeSignature& signature);

// Elements added before and after each dimension; negative numbers cut off.
struct Padding {
  std::vector<int64_t> before;
  std::vector<int64_t> after;
};
Result<Padding> PaddingOf(const NodeSignature& signature);

// The elements of Shape's output.
std::vector<int64_t> ShapeElementsOf(const NodeSignature& signature);

}  // namespace tinyprof
