#include "kernels/tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/base/checked_math.h"

namespace tinyprof {

Result<Shape> Shape::Create(std::vector<int64_t> dims) {
  int64_t nonzero_product = 1;
  for (const int64_t dim : dims) {
    if (dim < 0) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_SHAPE",
                  fmt::format("{} has a negative dimension", fmt::join(dims, "x")));
    }
    const Result<int64_t> product = CheckedMul(nonzero_product, std::max<int64_t>(dim, 1));
    if (!product || *product > kMaxElementCount) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_SHAPE",
                  fmt::format("{} has more than 2^40 elements", fmt::join(dims, "x")));
    }
    nonzero_product = *product;
  }
  return Shape(std::move(dims));
}

int64_t Shape::element_count() const {
  int64_t count = 1;
  for (const int64_t dim : dims_) count *= dim;
  return count;
}

int64_t Shape::stride(size_t axis) const {
  int64_t stride = 1;
  for (size_t i = axis + 1; i < dims_.size(); ++i) stride *= dims_[i];
  return stride;
}

std::string Shape::ToString() const {
  return dims_.empty() ? "scalar" : fmt::format("{}", fmt::join(dims_, "x"));
}

Result<Shape> Broadcast(const Shape& a, const Shape& b) {
  std::vector<int64_t> dims(std::max(a.rank(), b.rank()));
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t from_a = i < a.rank() ? a.back(i) : 1;
    const int64_t from_b = i < b.rank() ? b.back(i) : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      return Fail(
          ErrorCode::kInvalidArgument, "SHAPE_MISMATCH",
          fmt::format("{} and {} cannot be broadcast together", a.ToString(), b.ToString()));
    }
    dims[dims.size() - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return Shape::Create(std::move(dims));
}

}  // namespace tinyprof
