// One struct for each operator of one operand: its ONNX name, what it costs per element, and what
// it does to a scalar. T is float, double, an integer where kIntegers says so, or a counting
// scalar; each executes exactly the operations that kPerElement names.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <type_traits>

#include "kernels/ops/cost.h"
#include "kernels/ops/scalar_math.h"

namespace tinyprof {

// The two attributes of an activation, of which most are called "alpha" and "beta".
struct Coefficients {
  float alpha = 0;
  float beta = 0;
};

struct UnaryDefaults {
  static constexpr Coefficients kDefaults{};
  static constexpr std::array<std::string_view, 2> kNames = {"alpha", "beta"};
  static constexpr bool kIntegers = false;
};

struct Relu : UnaryDefaults {
  static constexpr std::string_view kType = "Relu";
  static constexpr FlopClasses kPerElement{.minmax = 1};
  template <class T>
  static T Apply(T x, Coefficients) {
    return Max(x, T(0));
  }
};

struct LeakyRelu : UnaryDefaults {
  static constexpr std::string_view kType = "LeakyRelu";
  static constexpr FlopClasses kPerElement{.add_mul_div = 1, .compare = 1};
  static constexpr Coefficients kDefaults{.alpha = 0.01F};
  template <class T>
  static T Apply(T x, Coefficients c) {
    const T scaled = T(c.alpha) * x;
    return x < T(0) ? scaled : x;
  }
};

struct Elu : UnaryDefaults {
  static constexpr std::string_view kType = "Elu";
  static constexpr FlopClasses kPerElement{.add_mul_div = 2, .compare = 1, .transcendental = 1};
  static constexpr Coefficients kDefaults{.alpha = 1};
  template <class T>
  static T Apply(T x, Coefficients c) {
    using std::exp;
    const T below = T(c.alpha) * (exp(x) - T(1));
    return x < T(0) ? below : x;
  }
};

// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
struct Celu : UnaryDefaults {
  static constexpr std::string_view kType = "Celu";
  static constexpr FlopClasses kPerElement{.add_mul_div = 4, .minmax = 2, .transcendental = 1};
  static constexpr Coefficients kDefaults{.alpha = 1};
  template <class T>
  static T Apply(T x, Coefficients c) {
    using std::exp;
    return Max(T(0), x) + Min(T(0), T(c.alpha) * (exp(x / T(c.alpha)) - T(1)));
  }
};

// Elu times gamma.
struct Selu : UnaryDefaults {
  static constexpr std::string_view kType = "Selu";
  static constexpr FlopClasses kPerElement{.add_mul_div = 3, .compare = 1, .transcendental = 1};
  static constexpr Coefficients kDefaults{.alpha = 1.67326319F, .beta = 1.05070102F};
  static constexpr std::array<std::string_view, 2> kNames = {"alpha", "gamma"};
  template <class T>
  static T Apply(T x, Coefficients c) {
    using std::exp;
    const T below = T(c.alpha) * (exp(x) - T(1));
    return T(c.beta) * (x < T(0) ? below : x);
  }
};

struct ThresholdedRelu : UnaryDefaults {
  static constexpr std::string_view kType = "ThresholdedRelu";
  static constexpr FlopClasses kPerElement{.compare = 1};
  static constexpr Coefficients kDefaults{.alpha = 1};
  template <class T>
  static T Apply(T x, Coefficients c) {
    return x > T(c.alpha) ? x : T(0);
  }
};

// Moves x towards 0 by bias, and to 0 within [-lambd, lambd].
struct Shrink : UnaryDefaults {
  static constexpr std::string_view kType = "Shrink";
  static constexpr FlopClasses kPerElement{.add_mul_div = 2, .compare = 2};
  static constexpr Coefficients kDefaults{.alpha = 0.5F, .beta = 0};
  static constexpr std::array<std::string_view, 2> kNames = {"lambd", "bias"};
  template <class T>
  static T Apply(T x, Coefficients c) {
    const T lower = x + T(c.beta);
    const T upper = x - T(c.beta);
    const bool is_below = x < T(-c.alpha);
    const bool is_above = x > T(c.alpha);
    return is_below ? lower : is_above ? upper : T(0);
  }
};

struct Softsign : UnaryDefaults {
  static constexpr std::string_view kType = "Softsign";
  static constexpr FlopClasses kPerElement{.add_mul_div = 2};
  template <class T>
  static T Apply(T x, Coefficients) {
    using std::abs;
    return x / (T(1) + abs(x));
  }
};

struct Sigmoid : UnaryDefaults {
  static constexpr std::string_view kType = "Sigmoid";
  static constexpr FlopClasses kPerElement{.add_mul_div = 2, .transcendental = 1};
  template <class T>
  static T Apply(T x, Coefficients) {
    using std::exp;
    return T(1) / (T(1) + exp(-x));
  }
};

struct HardSigmoid : UnaryDefaults {
  static constexpr std::string_view kType = "HardSigmoid";
  static constexpr FlopClasses kPerElement{.add_mul_div = 2, .minmax = 2};
  static constexpr Coefficients kDefaults{.alpha = 0.2F, .beta = 0.5F};
  template <class T>
  static T Apply(T x, Coefficients c) {
    return Max(T(0), Min(T(1), T(c.alpha) * x + T(c.beta)));
  }
};

// HardSigmoid with alpha 1/6 and beta 1/2, times x.
struct HardSwish : UnaryDefaults {
  static constexpr std::string_view kType = "HardSwish";
  static constexpr FlopClasses kPerElement{.add_mul_div = 3, .minmax = 2};
  template <class T>
  static T Apply(T x, Coefficients) {
    return x * Max(T(0), Min(T(1), T(1.0 / 6) * x + T(0.5)));
  }
};

struct Tanh : UnaryDefaults {
  static constexpr std::string_view kType = "Tanh";
  static constexpr FlopClasses kPerElement{.transcendental = 1};
  template <class T>
  static T Apply(T x, Coefficients) {
    using std::tanh;
    return tanh(x);
  }
};

struct GeluErf : UnaryDefaults {
  static constexpr std::string_view kType = "Gelu";
  static constexpr FlopClasses kPerElement{.add_mul_div = 4, .transcendental = 1};
  template <class T>
  static T Apply(T x, Coefficients) {
    using std::erf;
    return T(0.5) * x * (T(1) + erf(x * T(1 / std::numbers::sqrt2)));
  }
};

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
struct GeluTanh : UnaryDefaults {
  static constexpr std::string_view kType = "Gelu";
  static constexpr FlopClasses kPerElement{.add_mul_div = 8, .transcendental = 1};
  static constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  template <class T>
  static T Apply(T x, Coefficients) {
    using std::tanh;
    const T cube = x * x * x;
    return T(0.5) * x * (T(1) + tanh(T(kScale) * (x + T(0.044715) * cube)));
  }
};

// log(1 + exp(x)) in the form that does not overflow: max(x, 0) + log(1 + exp(-|x|)).
struct Softplus : UnaryDefaults {
  static constexpr std::string_view kType = "Softplus";
  static constexpr FlopClasses kPerElement{.add_mul_div = 2, .minmax = 1, .transcendental = 2};
  template <class T>
  static T Apply(T x, Coefficients) {
    using std::abs, std::exp, std::log;
    return Max(x, T(0)) + log(T(1) + exp(-abs(x)));
  }
};

// x * sigmoid(x), also called SiLU.
struct Swish : UnaryDefaults {
  static constexpr std::string_view kType = "Swish";
  static constexpr FlopClasses kPerElement{.add_mul_div = 3, .transcendental = 1};
  template <class T>
  static T Apply(T x, Coefficients) {
    using std::exp;
    return x * (T(1) / (T(1) + exp(-x)));
  }
};

#define TINYPROF_UNARY_FUNCTION(Struct, type, function, cost) \
  struct Struct : UnaryDefaults {                             \
    static constexpr std::string_view kType = type;           \
    static constexpr FlopClasses kPerElement = cost;          \
    template <class T>                                        \
    static T Apply(T x, Coefficients) {                       \
      using std::function;                                    \
      return function(x);                                     \
    }                                                         \
  }
TINYPROF_UNARY_FUNCTION(Exp, "Exp", exp, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Log, "Log", log, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Erf, "Erf", erf, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Sin, "Sin", sin, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Cos, "Cos", cos, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Tan, "Tan", tan, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Asin, "Asin", asin, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Acos, "Acos", acos, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Atan, "Atan", atan, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Sinh, "Sinh", sinh, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Cosh, "Cosh", cosh, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Asinh, "Asinh", asinh, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Acosh, "Acosh", acosh, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Atanh, "Atanh", atanh, FlopClasses{.transcendental = 1});
TINYPROF_UNARY_FUNCTION(Sqrt, "Sqrt", sqrt, FlopClasses{.add_mul_div = 1});
TINYPROF_UNARY_FUNCTION(Floor, "Floor", floor, FlopClasses{});
TINYPROF_UNARY_FUNCTION(Ceil, "Ceil", ceil, FlopClasses{});
// Halves go to the even neighbour.
TINYPROF_UNARY_FUNCTION(Round, "Round", nearbyint, FlopClasses{});
#undef TINYPROF_UNARY_FUNCTION

struct Reciprocal : UnaryDefaults {
  static constexpr std::string_view kType = "Reciprocal";
  static constexpr FlopClasses kPerElement{.add_mul_div = 1};
  template <class T>
  static T Apply(T x, Coefficients) {
    return T(1) / x;
  }
};

// Integers wrap around.
template <class T>
T Negated(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  } else {
    return -x;
  }
}

struct Neg : UnaryDefaults {
  static constexpr std::string_view kType = "Neg";
  static constexpr FlopClasses kPerElement{};
  static constexpr bool kIntegers = true;
  template <class T>
  static T Apply(T x, Coefficients) {
    return Negated(x);
  }
};

struct Abs : UnaryDefaults {
  static constexpr std::string_view kType = "Abs";
  static constexpr FlopClasses kPerElement{};
  static constexpr bool kIntegers = true;
  template <class T>
  static T Apply(T x, Coefficients) {
    if constexpr (std::is_integral_v<T>) {
      return x < 0 ? Negated(x) : x;
    } else {
      using std::abs;
      return abs(x);
    }
  }
};

struct Sign : UnaryDefaults {
  static constexpr std::string_view kType = "Sign";
  static constexpr FlopClasses kPerElement{.compare = 2};
  static constexpr bool kIntegers = true;
  template <class T>
  static T Apply(T x, Coefficients) {
    return static_cast<T>(int{x > T(0)} - int{x < T(0)});
  }
};

}  // namespace tinyprof
