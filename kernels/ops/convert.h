// Conversion between all element types.
#pragma once

#include <cstdint>

#include "kernels/tensor/dtype.h"

namespace tinyprof {

// Converts elements [begin, end) of `from` to those of `to`. Floats become integers by cutting off
// the fraction, the nearest integer there is where they are too large, and 0 for NaN; integers that
// are too large for an integer type wrap around; bool is 0 or 1.
using ConvertFn = void (*)(const void* from, void* to, int64_t begin, int64_t end);
ConvertFn FindConversion(DType from, DType to);

}  // namespace tinyprof
