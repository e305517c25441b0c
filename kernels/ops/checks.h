// Checks that the type rules of many operators share. Each failure is INVALID_ARGUMENT /
// "SHAPE_MISMATCH" or "DTYPE_MISMATCH" with what was got and wanted, unless its comment says else.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// Kernels keep the dimensions of a tensor in arrays of this length, so that Run never allocates.
inline constexpr size_t kMaxRank = 8;

inline bool IsFloat(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }
inline bool IsIndex(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

// Input `index` is float32 or float64.
Status CheckFloatInput(const NodeSignature& signature, size_t index);
// Every present input from `first` on has the dtype of input `like`.
Status CheckSameDType(const NodeSignature& signature, size_t like, size_t first);
// Input `index` is bool.
Status CheckBoolInput(const NodeSignature& signature, size_t index);
// Input `index` is int32 or int64.
Status CheckIndexInput(const NodeSignature& signature, size_t index);
// Input `index`, if present, has exactly this shape. `what` names it: "scale", "bias".
Status CheckInputShape(const NodeSignature& signature, size_t index, std::string_view what,
                       const Shape& wanted);
// Input `index` has `minimum` to `maximum` dimensions.
Status CheckRank(const NodeSignature& signature, size_t index, size_t minimum,
                 size_t maximum = kMaxRank);
// The node has `minimum` to `maximum` outputs. INVALID_ARGUMENT / "BAD_OUTPUT_COUNT".
Status CheckOutputCount(const NodeSignature& signature, size_t output_count, size_t minimum,
                        size_t maximum);

// `axis` counted from the front; negative axes count from the back of `rank` dimensions.
// INVALID_ARGUMENT / "BAD_AXIS".
Result<size_t> NormalizeAxis(const NodeSignature& signature, int64_t axis, size_t rank);
// The same for a list of axes, sorted; also refuses an axis that is named twice.
Result<std::vector<size_t>> NormalizeAxes(const NodeSignature& signature,
                                          const std::vector<int64_t>& axes, size_t rank);

// Those elements of integer input `index` that are known before the run choose among so many, by
// turns: element i among lengths[i % lengths.size()]. Negative ones count from the end.
Status CheckKnownIndices(const NodeSignature& signature, size_t index,
                         const std::vector<int64_t>& lengths);

// The elements of integer input `index`; `what` says what they are for. UNIMPLEMENTED /
// "SHAPE_NOT_KNOWN" when only the run would know them.
Result<std::vector<int64_t>> KnownInts(const NodeSignature& signature, size_t index,
                                       std::string_view what);
// The same from an attribute if the node has it, else from the input (older and newer opsets).
Result<std::vector<int64_t>> KnownInts(const NodeSignature& signature, std::string_view attribute,
                                       size_t index, std::string_view what);

// INVALID_ARGUMENT / "SHAPE_MISMATCH" with `message`, which begins with what is wrong.
tl::unexpected<Error> ShapeMismatch(const NodeSignature& signature, std::string message);
// INVALID_ARGUMENT / "BAD_ATTRIBUTE".
tl::unexpected<Error> BadAttribute(const NodeSignature& signature, std::string message);

}  // namespace tinyprof
