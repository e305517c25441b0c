#include "kernels/ops/conv/eigen_unfold.h"

#include <algorithm>

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

void CopyStrided(const float* from, int64_t stride, int64_t count, float* to) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  } else if (stride == 2) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[stride * i];
  }
}

}  // namespace

void Unfold(const ConvShape& shape, const float* x, const UnfoldTile& tile, float* out) {
  const int64_t stride = shape.axes[2].stride;
  for (int64_t row = tile.row_begin; row < tile.row_end; ++row) {
    const TapRow tap_row = TapRowOf(shape, row);
    const float* plane = x + tap_row.channel * shape.extent_count();
    VisitRuns(shape, tap_row.tap, tile,
              [&](int64_t column, int64_t length, int64_t skip, int64_t use, int64_t element) {
                float* run = out + column;
                std::fill(run, run + skip, 0.0F);
                CopyStrided(plane + element, stride, use, run + skip);
                std::fill(run + skip + use, run + length, 0.0F);
              });
    out += tile.column_end - tile.column_begin;
  }
}

void FoldAdd(const ConvShape& shape, const float* columns, const UnfoldTile& tile, float* y) {
  const int64_t stride = shape.axes[2].stride;
  for (int64_t row = tile.row_begin; row < tile.row_end; ++row) {
    const TapRow tap_row = TapRowOf(shape, row);
    float* plane = y + tap_row.channel * shape.extent_count();
    VisitRuns(shape, tap_row.tap, tile,
              [&](int64_t column, int64_t /*length*/, int64_t skip, int64_t use, int64_t element) {
                const float* run = columns + column + skip;
                for (int64_t i = 0; i < use; ++i) plane[element + stride * i] += run[i];
              });
    columns += tile.column_end - tile.column_begin;
  }
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
