// One struct for each operator of two operands, as in unary_functors.h. Integers wrap around, and
// an integer divided by 0 is 0: a run never stops on data.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "kernels/ops/cost.h"
#include "kernels/ops/scalar_math.h"

namespace tinyprof {

// The unsigned type that an integer calculates in, so that overflow is defined.
template <class T>
using Wrapping = std::make_unsigned_t<T>;

struct Add {
  static constexpr std::string_view kType = "Add";
  static constexpr FlopClasses kPerElement{.add_mul_div = 1};
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};

// The variadic Add.
struct Sum : Add {
  static constexpr std::string_view kType = "Sum";
};

struct Sub {
  static constexpr std::string_view kType = "Sub";
  static constexpr FlopClasses kPerElement{.add_mul_div = 1};
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    } else {
      return a - b;
    }
  }
};

struct Mul {
  static constexpr std::string_view kType = "Mul";
  static constexpr FlopClasses kPerElement{.add_mul_div = 1};
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};

struct Div {
  static constexpr std::string_view kType = "Div";
  static constexpr FlopClasses kPerElement{.add_mul_div = 1};
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      return b == -1 ? static_cast<T>(0 - static_cast<Wrapping<T>>(a)) : static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

struct Pow {
  static constexpr std::string_view kType = "Pow";
  static constexpr FlopClasses kPerElement{.transcendental = 1};
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return IntegerPower(a, b);
    } else {
      using std::pow;
      return pow(a, b);
    }
  }

 private:
  // By squaring. A negative exponent leaves only what an integer holds of 1 / a^|b|.
  template <class T>
  static T IntegerPower(T base, T exponent) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? 1 : -1;
      return 0;
    }
    T power = 1;
    for (; exponent > 0; exponent = static_cast<T>(exponent / 2)) {
      if (exponent % 2 == 1) power = Mul::Apply(power, base);
      base = Mul::Apply(base, base);
    }
    return power;
  }
};

// The rest of a / b. For integers with the sign of b; for floats (fmod) with that of a. An integer
// over 0 leaves 0.
struct Mod {
  static constexpr std::string_view kType = "Mod";
  static constexpr FlopClasses kPerElement{.add_mul_div = 1};
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0 || b == -1) return 0;
      const T rest = static_cast<T>(a % b);
      return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    } else {
      using std::fmod;
      return fmod(a, b);
    }
  }
};

// Mod with fmod = 1: integers too take the sign of a.
struct TruncatedMod : Mod {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return b == 0 || b == -1 ? T(0) : static_cast<T>(a % b);
    } else {
      return Mod::Apply(a, b);
    }
  }
};

// Shifts of integers that are not negative; by the width of the type or more gives 0.
struct ShiftLeft {
  static constexpr std::string_view kType = "BitShift";
  static constexpr FlopClasses kPerElement{};
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b < 0 || b >= static_cast<T>(8 * sizeof(T))) return 0;
      return static_cast<T>(static_cast<Wrapping<T>>(a) << b);
    } else {
      return a;
    }
  }
};
struct ShiftRight : ShiftLeft {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b < 0 || b >= static_cast<T>(8 * sizeof(T))) return 0;
      return static_cast<T>(static_cast<Wrapping<T>>(a) >> b);
    } else {
      return a;
    }
  }
};

// The variadic mean: the sum, divided once.
struct MeanOfAll : Add {
  static constexpr std::string_view kType = "Mean";
};

struct Maximum {
  static constexpr std::string_view kType = "Max";
  static constexpr FlopClasses kPerElement{.minmax = 1};
  template <class T>
  static T Apply(T a, T b) {
    return Max(a, b);
  }
};

struct Minimum {
  static constexpr std::string_view kType = "Min";
  static constexpr FlopClasses kPerElement{.minmax = 1};
  template <class T>
  static T Apply(T a, T b) {
    return Min(a, b);
  }
};

// x where it is not negative, else slope * x.
struct PRelu {
  static constexpr std::string_view kType = "PRelu";
  static constexpr FlopClasses kPerElement{.add_mul_div = 1, .compare = 1};
  template <class T>
  static T Apply(T x, T slope) {
    const T scaled = slope * x;
    return x < T(0) ? scaled : x;
  }
};

#define TINYPROF_COMPARISON(Struct, type, sign)             \
  struct Struct {                                           \
    static constexpr std::string_view kType = type;         \
    static constexpr FlopClasses kPerElement{.compare = 1}; \
    template <class T>                                      \
    static bool Apply(T a, T b) {                           \
      return a sign b;                                      \
    }                                                       \
  }
TINYPROF_COMPARISON(Equal, "Equal", ==);
TINYPROF_COMPARISON(Greater, "Greater", >);
TINYPROF_COMPARISON(Less, "Less", <);
TINYPROF_COMPARISON(GreaterOrEqual, "GreaterOrEqual", >=);
TINYPROF_COMPARISON(LessOrEqual, "LessOrEqual", <=);
#undef TINYPROF_COMPARISON

struct And {
  static constexpr std::string_view kType = "And";
  static bool Apply(uint8_t a, uint8_t b) { return a != 0 && b != 0; }
};
struct Or {
  static constexpr std::string_view kType = "Or";
  static bool Apply(uint8_t a, uint8_t b) { return a != 0 || b != 0; }
};

struct Xor {
  static constexpr std::string_view kType = "Xor";
  static bool Apply(uint8_t a, uint8_t b) { return (a != 0) != (b != 0); }
};

}  // namespace tinyprof
