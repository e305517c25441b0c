#include "kernels/ops/conv/eigen_unfold.h"

#include <algorithm>

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// One row of the matrix: one tap of one channel.
struct TapRow {
  int64_t channel;
  std::array<int64_t, 3> tap;
};

TapRow RowOf(const ConvShape& shape, int64_t row) {
  const int64_t width_tap = row % shape.axes[2].kernel;
  row /= shape.axes[2].kernel;
  const int64_t height_tap = row % shape.axes[1].kernel;
  row /= shape.axes[1].kernel;
  const int64_t depth_tap = row % shape.axes[0].kernel;
  return {row / shape.axes[0].kernel, {depth_tap, height_tap, width_tap}};
}

// Calls `visit(column, length, skip, use, element)` for each run of places of one line: the run
// starts at `column` of the tile and has `length` places, of which the `use` after the first `skip`
// meet the elements `element`, `element` + stride, ...
template <class Visit>
void VisitRuns(const ConvShape& shape, const std::array<int64_t, 3>& tap, const UnfoldTile& tile,
               const Visit& visit) {
  const auto& [depth, height, width] = shape.axes;
  const ConvAxis::Range valid = width.ValidPositions(tap[2]);
  int64_t line = tile.column_begin / width.positions;
  int64_t place = tile.column_begin % width.positions;
  for (int64_t at = tile.column_begin; at < tile.column_end; ++line, place = 0) {
    const int64_t length = std::min(width.positions - place, tile.column_end - at);
    const int64_t z = depth.Element(line / height.positions, tap[0]);
    const int64_t y = height.Element(line % height.positions, tap[1]);
    const bool inside = z >= 0 && z < depth.extent && y >= 0 && y < height.extent;
    const int64_t begin = std::clamp(valid.begin, place, place + length);
    const int64_t end = inside ? std::clamp(valid.end, begin, place + length) : begin;
    visit(at - tile.column_begin, length, begin - place, end - begin,
          (z * height.extent + y) * width.extent + width.Element(begin, tap[2]));
    at += length;
  }
}

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
    const TapRow tap_row = RowOf(shape, row);
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
    const TapRow tap_row = RowOf(shape, row);
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
