// Unfolding (im2col): the input of a convolution as a matrix of taps by places.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/ops/conv/conv_shape.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// A rectangle of the matrix with in_group * taps rows and position_count columns.
struct UnfoldTile {
  int64_t row_begin = 0;
  int64_t row_end = 0;
  int64_t column_begin = 0;
  int64_t column_end = 0;
};

// One row of the matrix: one tap of one channel of the group.
struct TapRow {
  int64_t channel;
  std::array<int64_t, 3> tap;
};

inline TapRow TapRowOf(const ConvShape& shape, int64_t row) {
  const int64_t width_tap = row % shape.axes[2].kernel;
  row /= shape.axes[2].kernel;
  const int64_t height_tap = row % shape.axes[1].kernel;
  row /= shape.axes[1].kernel;
  const int64_t depth_tap = row % shape.axes[0].kernel;
  return {row / shape.axes[0].kernel, {depth_tap, height_tap, width_tap}};
}

// Calls `visit(column, length, skip, use, element)` for each run of places of one line: the run
// starts at `column` of the tile and has `length` places, of which the `use` after the first `skip`
// meet the elements `element`, `element` + stride, ... of the channel; the others meet padding.
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

// Writes the tile to `out`, row-major and dense; taps on padding are 0. `x` points at the first
// channel of the group.
void Unfold(const ConvShape& shape, const float* x, const UnfoldTile& tile, float* out);

// The reverse: adds the tile to `y`, the first channel of the group of output planes whose rows of
// taps start at row 0; taps on what is cut off are dropped.
void FoldAdd(const ConvShape& shape, const float* columns, const UnfoldTile& tile, float* y);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
