// Scalar functions of the naive loops that have no operator of their own.
//
// A loop calls them without a namespace (and `using std::exp;` for the functions of <cmath>), so
// that the tests' counting scalar can bring its own by argument-dependent look-up.
#pragma once

#include <type_traits>

namespace tinyprof {

// The larger of two numbers; NaN when either is NaN, as NumPy and ONNX have it.
template <class T>
requires std::is_arithmetic_v<T>
constexpr T Max(T a, T b) { return a >= b || a != a ? a : b; }

// The smaller of two numbers; NaN when either is NaN.
template <class T>
requires std::is_arithmetic_v<T>
constexpr T Min(T a, T b) { return a <= b || a != a ? a : b; }

}  // namespace tinyprof
