#include "tests/conformance/compare.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tinyprof {
namespace {

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;
// One unit in the last place of bfloat16: ONNX's files were made by cutting off, kernels round.
constexpr double kRelativeOfBFloat16 = 0x1p-7;

template <class T>
double Load(const std::byte* at) {
  T element;
  std::memcpy(&element, at, sizeof element);
  return static_cast<double>(element);
}

// IEEE 754 binary16.
double LoadHalf(const std::byte* at) {
  uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double magnitude = std::ldexp(fraction + (exponent == 0 ? 0 : 1024), std::max(exponent, 1) - 25);
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

double ElementAt(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kFloat32:
      return Load<float>(at);
    case DType::kFloat64:
      return Load<double>(at);
    case DType::kFloat16:
      return LoadHalf(at);
    case DType::kBFloat16: {
      uint16_t bits = 0;
      std::memcpy(&bits, at, sizeof bits);
      return static_cast<double>(std::bit_cast<float>(uint32_t{bits} << 16));
    }
    case DType::kInt8:
      return Load<int8_t>(at);
    case DType::kInt32:
      return Load<int32_t>(at);
    case DType::kInt64:
      return Load<int64_t>(at);
    case DType::kUInt8:
    case DType::kBool:
      return Load<uint8_t>(at);
  }
  return 0;
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

bool Agrees(double got, double want, double relative) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= kAbsolute + relative * std::fabs(want);
}

}  // namespace

std::string DifferenceOf(const ConstTensorView& got, const TensorData& want) {
  if (got.type != want.type) {
    return fmt::format("got {} {}, want {} {}", Name(got.type.dtype), got.shape().ToString(),
                       Name(want.type.dtype), want.type.shape.ToString());
  }
  const DType dtype = want.type.dtype;
  const int64_t element_bytes = ByteSize(dtype);
  const double relative = dtype == DType::kBFloat16 ? kRelativeOfBFloat16 : kRelative;
  for (int64_t i = 0; i < got.element_count(); ++i) {
    const std::byte* got_at = got.As<std::byte>() + i * element_bytes;
    const std::byte* want_at = want.bytes->data() + i * element_bytes;
    const double got_value = ElementAt(dtype, got_at);
    const double want_value = ElementAt(dtype, want_at);
    const bool same = IsFloating(dtype)
                          ? Agrees(got_value, want_value, relative)
                          : std::memcmp(got_at, want_at, static_cast<size_t>(element_bytes)) == 0;
    if (!same) return fmt::format("element {} is {}, want {}", i, got_value, want_value);
  }
  return "";
}

}  // namespace tinyprof
