#include "daemon/worker/compare_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

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

// The place of element `position` in a row-major tensor.
std::vector<int64_t> IndexOf(const Shape& shape, int64_t position) {
  std::vector<int64_t> index(shape.rank());
  for (size_t axis = shape.rank(); axis-- > 0; position /= shape[axis]) {
    index[axis] = position % shape[axis];
  }
  return index;
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
  int64_t outside_count = 0;
  // By the error beside what is allowed; where nothing is, by the error.
  std::pair<double, double> worst_excess;
  int64_t worst = 0;
  for (int64_t i = 0; i < got.element_count(); ++i) {
    const double got_value = element(got.As<std::byte>(), i);
    const double want_value = element(want.bytes->data(), i);
    if (Same(got_value, want_value)) continue;
    double error = std::fabs(got_value - want_value);
    // Where one side is NaN or infinite, no error is finite.
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    const double allowed = tolerance.absolute + tolerance.relative * std::fabs(want_value);
    // Written so that an infinite `want`, which allows anything, does not pass.
    if (!(std::isfinite(error) && error <= allowed)) {
      ++outside_count;
      const std::pair excess(std::isfinite(error) ? error / allowed : error, error);
      if (excess > worst_excess) worst = i;
      worst_excess = std::max(worst_excess, excess);
    }
    max_abs_error = std::max(max_abs_error, error);
    if (want_value != 0) max_rel_error = std::max(max_rel_error, error / std::fabs(want_value));
  }
  result.set_max_abs_error(max_abs_error);
  result.set_max_rel_error(std::isnan(max_rel_error) ? std::numeric_limits<double>::infinity()
                                                     : max_rel_error);
  result.set_outside_count(outside_count);
  if (outside_count > 0) {
    v1::WorstElement& element_of_it = *result.mutable_worst();
    const std::vector<int64_t> index = IndexOf(got.shape(), worst);
    element_of_it.mutable_index()->Assign(index.begin(), index.end());
    element_of_it.set_got(element(got.As<std::byte>(), worst));
    const double want_value = element(want.bytes->data(), worst);
    element_of_it.set_want(want_value);
    element_of_it.set_allowed(std::isfinite(want_value)
                                  ? tolerance.absolute + tolerance.relative * std::fabs(want_value)
                                  : 0);
  }
  result.set_ok(outside_count == 0);
  return result;
}

}  // namespace tinyprof
