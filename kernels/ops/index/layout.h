// Where indices point into the data: shared by the gathers and the scatters.
#pragma once

#include "kernels/ops/elementwise/broadcast.h"
#include "kernels/ops/index/index.h"
#include "kernels/ops/partition.h"

namespace tinyprof {

// GatherElements and ScatterElements: one index for each element.
struct ElementsLayout {
  BroadcastPlan plan;  // over the indices, with the data's strides but along the axis
  int64_t axis_length = 0;
  int64_t axis_stride = 0;

  // Calls visit(i, offset) for the indices `range`: which one, and the element of the data.
  template <class Visit>
  void ForEach(const ConstTensorView& indices, Partition range, const Visit& visit) const {
    ForEachRow(plan, range.begin, range.end, [&](const BroadcastRow& row) {
      for (int64_t i = 0; i < row.length; ++i) {
        const int64_t at = row.begin + i;
        const int64_t index = SafeIndex(IndexAt(indices, at), axis_length);
        visit(at, row.offsets[0] + i * plan.inner_stride(0) + index * axis_stride);
      }
    });
  }
};
Result<ElementsLayout> ElementsLayoutOf(const NodeSignature& signature);

// GatherND and ScatterND: tuples of indices, each of which chooses a slice.
struct SlicesLayout {
  int64_t width = 0;  // indices in a tuple
  int64_t tuple_count = 1;
  int64_t tuples_per_batch = 1;
  int64_t batch_bytes = 0;
  int64_t slice_bytes = 0;
  std::vector<int64_t> lengths;       // of the dimensions that a tuple indexes
  std::vector<int64_t> stride_bytes;  // of the same
  std::vector<int64_t> slice_dims;

  // The first byte of the slice that tuple `tuple` chooses.
  int64_t OffsetOf(const ConstTensorView& indices, int64_t tuple) const {
    int64_t offset = tuple / tuples_per_batch * batch_bytes;
    for (int64_t i = 0; i < width; ++i) {
      const auto d = static_cast<size_t>(i);
      offset += SafeIndex(IndexAt(indices, tuple * width + i), lengths[d]) * stride_bytes[d];
    }
    return offset;
  }
};
Result<SlicesLayout> SlicesLayoutOf(const NodeSignature& signature);

}  // namespace tinyprof
