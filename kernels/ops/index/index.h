// Operators that choose elements by indices or conditions, and those that make indices.
//
// Indices out of range are refused where they are known before the run. Those that are data of the
// run are clamped to the tensor, so that nothing outside of it is ever touched. Where the shape of
// the output depends on data, that has to be known before the run: UNIMPLEMENTED /
// "SHAPE_NOT_KNOWN" otherwise. None costs FLOPs but a Range of floats and a ScatterElements or
// ScatterND that adds or multiplies. One implementation for all backends.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/ops/checks.h"
#include "kernels/ops/op.h"

namespace tinyprof {

using Types = std::vector<TensorType>;
using KernelResult = Result<std::unique_ptr<Kernel>>;

// Element `at` of an int32 or int64 tensor.
inline int64_t IndexAt(const ConstTensorView& indices, int64_t at) {
  return indices.type.dtype == DType::kInt32 ? indices.As<int32_t>()[at]
                                             : indices.As<int64_t>()[at];
}
// `index` counted from the front and clamped to [0, length).
inline int64_t SafeIndex(int64_t index, int64_t length) {
  return std::clamp<int64_t>(index < 0 ? index + length : index, 0, length - 1);
}

// GatherElements: out[i][j] = data[indices[i][j]][j] for axis 0. GatherND: each tuple of indices
// (the last dimension) takes a slice of the data, below `batch_dims` shared dimensions.
Result<Types> InferGatherElements(const NodeSignature& signature, size_t output_count);
KernelResult MakeGatherElementsKernel(const NodeSignature& signature, const KernelOptions& options);
Result<Types> InferGatherNd(const NodeSignature& signature, size_t output_count);
KernelResult MakeGatherNdKernel(const NodeSignature& signature, const KernelOptions& options);

// The data with updates written where the Gather of the same name would read; "reduction" (none,
// add, mul, max, min) joins them to what is there.
Result<Types> InferScatterElements(const NodeSignature& signature, size_t output_count);
KernelResult MakeScatterElementsKernel(const NodeSignature& signature,
                                       const KernelOptions& options);
Result<Types> InferScatterNd(const NodeSignature& signature, size_t output_count);
KernelResult MakeScatterNdKernel(const NodeSignature& signature, const KernelOptions& options);
Result<Cost> ScatterCost(const NodeSignature& signature);

// Output shapes that depend on data: Compress on its condition, NonZero and Unique on all.
Result<Types> InferCompress(const NodeSignature& signature, size_t output_count);
KernelResult MakeCompressKernel(const NodeSignature& signature, const KernelOptions& options);
Result<Types> InferNonZero(const NodeSignature& signature, size_t output_count);
KernelResult MakeNonZeroKernel(const NodeSignature& signature, const KernelOptions& options);
Result<Types> InferUnique(const NodeSignature& signature, size_t output_count);
KernelResult MakeUniqueKernel(const NodeSignature& signature, const KernelOptions& options);

// Rows of batch, class and box; depends on all inputs.
Result<Types> InferNonMaxSuppression(const NodeSignature& signature, size_t output_count);
KernelResult MakeNonMaxSuppressionKernel(const NodeSignature& signature,
                                         const KernelOptions& options);

// OneHot: input 1 is the depth, input 2 holds the values for off and on. Range: inputs are start,
// limit and step. EyeLike: ones on diagonal k of a matrix like the input.
Result<Types> InferOneHot(const NodeSignature& signature, size_t output_count);
KernelResult MakeOneHotKernel(const NodeSignature& signature, const KernelOptions& options);
Result<Types> InferRange(const NodeSignature& signature, size_t output_count);
Result<Cost> RangeCost(const NodeSignature& signature);
KernelResult MakeRangeKernel(const NodeSignature& signature, const KernelOptions& options);
Result<Types> InferEyeLike(const NodeSignature& signature, size_t output_count);
KernelResult MakeEyeLikeKernel(const NodeSignature& signature, const KernelOptions& options);

// Trilu: the upper or lower triangle of matrices, zeros elsewhere; input 1 shifts the diagonal.
// ReverseSequence: the first sequence_lens[b] steps of each batch element in reverse.
Result<Types> InferTrilu(const NodeSignature& signature, size_t output_count);
KernelResult MakeTriluKernel(const NodeSignature& signature, const KernelOptions& options);
Result<Types> InferReverseSequence(const NodeSignature& signature, size_t output_count);
KernelResult MakeReverseSequenceKernel(const NodeSignature& signature,
                                       const KernelOptions& options);

}  // namespace tinyprof
