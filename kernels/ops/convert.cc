#include "kernels/ops/convert.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/base/check.h"
#include "kernels/tensor/half.h"

namespace tinyprof {
namespace {

// Booleans are bytes, told apart from uint8 by this.
struct BoolByte {
  uint8_t value;
};

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class To, class From>
To Converted(From from) {
  if constexpr (std::is_same_v<From, BoolByte>) {
    return Converted<To>(uint8_t{from.value != 0});
  } else if constexpr (kIsHalf<From>) {
    if constexpr (std::is_same_v<From, To>) return from;
    return Converted<To>(ToFloat(from));
  } else if constexpr (std::is_same_v<To, BoolByte>) {
    return {from != From(0)};
  } else if constexpr (std::is_same_v<To, Half>) {
    return ToHalf(static_cast<float>(from));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return ToBFloat16(static_cast<float>(from));
  } else if constexpr (std::is_floating_point_v<To> || std::is_integral_v<From>) {
    return static_cast<To>(from);
  } else {
    // Both ends are powers of two, so they are exact in every floating-point type.
    constexpr int kBits = std::numeric_limits<To>::digits;
    const From end = std::ldexp(From(1), kBits);
    if (std::isnan(from)) return 0;
    if (from >= end) return std::numeric_limits<To>::max();
    if (from < (std::is_signed_v<To> ? -end : From(0))) return std::numeric_limits<To>::min();
    return static_cast<To>(from);
  }
}

template <class To, class From>
void Convert(const void* from, void* to, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    static_cast<To*>(to)[i] = Converted<To>(static_cast<const From*>(from)[i]);
  }
}

// visit(std::type_identity<E>()) for the type of `dtype`.
template <class Visit>
ConvertFn VisitType(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kFloat32:
      return visit(std::type_identity<float>());
    case DType::kFloat64:
      return visit(std::type_identity<double>());
    case DType::kFloat16:
      return visit(std::type_identity<Half>());
    case DType::kBFloat16:
      return visit(std::type_identity<BFloat16>());
    case DType::kInt8:
      return visit(std::type_identity<int8_t>());
    case DType::kUInt8:
      return visit(std::type_identity<uint8_t>());
    case DType::kInt32:
      return visit(std::type_identity<int32_t>());
    case DType::kInt64:
      return visit(std::type_identity<int64_t>());
    case DType::kBool:
      return visit(std::type_identity<BoolByte>());
  }
  TINYPROF_CHECK(false);
}

}  // namespace

ConvertFn FindConversion(DType from, DType to) {
  return VisitType(from, [to]<class From>(std::type_identity<From>) {
    return VisitType(
        to, []<class To>(std::type_identity<To>) -> ConvertFn { return &Convert<To, From>; });
  });
}

}  // namespace tinyprof
