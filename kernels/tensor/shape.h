// The shape of a tensor, row-major, every dimension known and at least 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/tensor/dtype.h"

namespace tinyprof {

class Shape {
 public:
  Shape() = default;  // a scalar: rank 0, one element
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}

  // A shape whose dimensions are at least 0 and whose element count is at most kMaxElementCount;
  // INVALID_ARGUMENT / "BAD_SHAPE" otherwise. Shapes from outside are made by this.
  static Result<Shape> Create(std::vector<int64_t> dims);
  static constexpr int64_t kMaxElementCount = int64_t{1} << 40;

  size_t rank() const { return dims_.size(); }
  int64_t operator[](size_t axis) const { return dims_[axis]; }
  // The dimension `from_end` places before the last: back(0) is the last one. rank() > from_end.
  int64_t back(size_t from_end = 0) const { return dims_[dims_.size() - 1 - from_end]; }
  const std::vector<int64_t>& dims() const { return dims_; }

  int64_t element_count() const;
  // Elements between two neighbours along `axis`.
  int64_t stride(size_t axis) const;

  // "1x3x224x224"; "scalar" for rank 0.
  std::string ToString() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<int64_t> dims_;
};

// What is known of a value before it has data.
struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;

  int64_t byte_size() const { return shape.element_count() * ByteSize(dtype); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// The NumPy broadcast of two shapes, or INVALID_ARGUMENT / "SHAPE_MISMATCH".
Result<Shape> Broadcast(const Shape& a, const Shape& b);

}  // namespace tinyprof
