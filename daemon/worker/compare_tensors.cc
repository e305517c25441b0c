#include "daemon/worker/compare_tensors.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tinyprof {
namespace {

template <class T>
double Element(const std::byte* data, int64_t index) {
  T element;
  std::memcpy(&element, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return static_cast<double>(element);
}

// IEEE 754 binary16.
double HalfElement(const std::byte* data, int64_t index) {
  uint16_t bits = 0;
  std::memcpy(&bits, data + 2 * index, sizeof bits);
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31) return sign * std::ldexp(fraction + 1024, exponent - 25);
  return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::quiet_NaN();
}

// The upper half of a binary32.
double BFloat16Element(const std::byte* data, int64_t index) {
  uint16_t bits = 0;
  std::memcpy(&bits, data + 2 * index, sizeof bits);
  return static_cast<double>(std::bit_cast<float>(uint32_t{bits} << 16));
}

using ElementFn = double (*)(const std::byte* data, int64_t index);

ElementFn ElementOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return Element<float>;
    case DType::kFloat64:
      return Element<double>;
    case DType::kFloat16:
      return HalfElement;
    case DType::kBFloat16:
      return BFloat16Element;
    case DType::kInt8:
      return Element<int8_t>;
    case DType::kUInt8:
    case DType::kBool:
      return Element<uint8_t>;
    case DType::kInt32:
      return Element<int32_t>;
    case DType::kInt64:
      return Element<int64_t>;
  }
  return Element<uint8_t>;
}

bool Same(double got, double want) { return got == want || (std::isnan(got) && std::isnan(want)); }

}  // namespace

v1::VerifiedOutput CompareTensors(const std::string& name, const ConstTensorView& got,
                                  const TensorData& want, const Tolerance& tolerance) {
  v1::VerifiedOutput result;
  result.set_name(name);
  result.mutable_shape()->Assign(got.shape().dims().begin(), got.shape().dims().end());
  if (got.type != want.type) {
    result.set_note(fmt::format("got {} {} and wanted {} {}", Name(got.type.dtype),
                                got.shape().ToString(), Name(want.type.dtype),
                                want.type.shape.ToString()));
    return result;
  }
  const ElementFn element = ElementOf(got.type.dtype);
  double max_abs_error = 0;
  double max_rel_error = 0;
  bool ok = true;
  for (int64_t i = 0; i < got.element_count(); ++i) {
    const double got_value = element(got.As<std::byte>(), i);
    const double want_value = element(want.bytes->data(), i);
    if (Same(got_value, want_value)) continue;
    double error = std::fabs(got_value - want_value);
    // Where one side is NaN or infinite, no error is finite.
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    const double allowed = tolerance.absolute + tolerance.relative * std::fabs(want_value);
    // Written so that an infinite `want`, which allows anything, does not pass.
    ok = ok && std::isfinite(error) && error <= allowed;
    max_abs_error = std::max(max_abs_error, error);
    if (want_value != 0) max_rel_error = std::max(max_rel_error, error / std::fabs(want_value));
  }
  result.set_max_abs_error(max_abs_error);
  result.set_max_rel_error(std::isnan(max_rel_error) ? std::numeric_limits<double>::infinity()
                                                     : max_rel_error);
  result.set_ok(ok);
  return result;
}

}  // namespace tinyprof
