// The kinds of element types.
#pragma once

#include "kernels/ops/checks.h"

namespace tinyprof {

// Those whose operations are FLOPs: also the 16-bit ones, which are computed in float32.
inline bool IsFloating(DType dtype) {
  return IsFloat(dtype) || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}
// What arithmetic is done on: all but bool.
inline bool IsNumber(DType dtype) { return dtype != DType::kBool; }

// Input `index` is a number. INVALID_ARGUMENT / "DTYPE_MISMATCH".
Status CheckNumberInput(const NodeSignature& signature, size_t index);

}  // namespace tinyprof
