// Walks the elements of a broadcast result together with those of its operands.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "kernels/ops/checks.h"
#include "kernels/tensor/shape.h"

namespace tinyprof {

inline constexpr size_t kMaxOperands = 3;

// The dimensions of a broadcast result after neighbours that every operand walks alike were merged:
// two tensors of one shape have one dimension, a bias on a matrix has two, a scale for each channel
// of an image three. The innermost dimension has stride 0 or 1 in every operand.
struct BroadcastPlan {
  size_t rank = 1;
  std::array<int64_t, kMaxRank> dims{};
  // Elements between two neighbours, by operand and dimension; 0 where the operand is repeated.
  std::array<std::array<int64_t, kMaxRank>, kMaxOperands> strides{};
  int64_t element_count = 0;

  int64_t inner_stride(size_t operand) const { return strides[operand][rank - 1]; }
};

// `operands` (at most kMaxOperands) broadcast to `output`, all of rank kMaxRank or less. Does not
// allocate.
BroadcastPlan PlanBroadcast(const Shape& output, std::initializer_list<const Shape*> operands);

// The plan of one operand that is walked by any strides (a transpose, a slice): result dimension d
// is dims[d] long and a step along it moves by strides[d]. At most kMaxRank of them. Does not
// allocate.
BroadcastPlan PlanStrided(std::span<const int64_t> dims, std::span<const int64_t> strides);

// A run of `length` result elements from `begin` on, and where it begins in each operand.
struct BroadcastRow {
  int64_t begin = 0;
  int64_t length = 0;
  std::array<int64_t, kMaxOperands> offsets{};
};

// Calls visit(row) for the result elements [begin, end) in order, a row of the innermost dimension
// (or the part of it that is in range) at a time.
template <class Visit>
void ForEachRow(const BroadcastPlan& plan, int64_t begin, int64_t end, Visit visit) {
  std::array<int64_t, kMaxRank> index{};
  BroadcastRow row{.begin = begin};
  int64_t rest = begin;
  for (size_t d = plan.rank; d-- > 0 && begin < end;) {
    index[d] = rest % plan.dims[d];
    rest /= plan.dims[d];
    for (size_t k = 0; k < kMaxOperands; ++k) row.offsets[k] += index[d] * plan.strides[k][d];
  }
  const size_t inner = plan.rank - 1;
  while (row.begin < end) {
    row.length = std::min(plan.dims[inner] - index[inner], end - row.begin);
    visit(row);
    row.begin += row.length;
    // The row's end: back to the start of the innermost dimension, then one step further out.
    for (size_t k = 0; k < kMaxOperands; ++k) {
      row.offsets[k] -= index[inner] * plan.strides[k][inner];
    }
    index[inner] = 0;
    for (size_t d = inner; d-- > 0;) {
      for (size_t k = 0; k < kMaxOperands; ++k) row.offsets[k] += plan.strides[k][d];
      if (++index[d] < plan.dims[d]) break;
      for (size_t k = 0; k < kMaxOperands; ++k) {
        row.offsets[k] -= plan.dims[d] * plan.strides[k][d];
      }
      index[d] = 0;
    }
  }
}

}  // namespace tinyprof
