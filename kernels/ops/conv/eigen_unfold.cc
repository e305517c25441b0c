#include "kernels/ops/conv/eigen_unfold.h"

#include <algorithm>

#include "kernels/ops/conv/eigen_strided_copy.h"
#include "kernels/ops/matmul/eigen_panels.h"

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

// One row of a matrix in panels, written from left to right.
class PanelRow {
 public:
  PanelRow(float* panels, int64_t depth, int64_t padded, int64_t row)
      : panels_(panels), depth_(depth), padded_(padded), row_(row) {}

  void Zero(int64_t count) {
    Write(count,
          [](int64_t /*done*/, int64_t length, float* to) { std::fill_n(to, length, 0.0F); });
  }
  void Copy(const float* from, int64_t stride, int64_t count) {
    Write(count, [from, stride](int64_t done, int64_t length, float* to) {
      CopyStrided(from + done * stride, stride, length, to);
    });
  }
  void Finish() { Zero(padded_ - column_); }

 private:
  template <class WritePiece>
  void Write(int64_t count, const WritePiece& write) {
    for (int64_t done = 0; done < count;) {
      const int64_t place = column_ % kPanelColumns;
      const int64_t first = column_ - place;
      const int64_t length = std::min(count - done, kPanelColumns - place);
      write(done, length, panels_ + first * depth_ + row_ * PanelWidth(first, padded_) + place);
      done += length;
      column_ += length;
    }
  }

  float* panels_;
  int64_t depth_;
  int64_t padded_;
  int64_t row_;
  int64_t column_ = 0;
};

}  // namespace

void Unfold(const ConvShape& shape, const float* x, const UnfoldTile& tile, float* panels) {
  const int64_t stride = shape.axes[2].stride;
  const int64_t depth = tile.row_end - tile.row_begin;
  const int64_t padded = PaddedColumns(tile.column_end - tile.column_begin);
  for (int64_t row = 0; row < depth; ++row) {
    const TapRow tap_row = RowOf(shape, tile.row_begin + row);
    const float* plane = x + tap_row.channel * shape.extent_count();
    PanelRow out(panels, depth, padded, row);
    VisitRuns(shape, tap_row.tap, tile,
              [&](int64_t /*column*/, int64_t length, int64_t skip, int64_t use, int64_t element) {
                out.Zero(skip);
                out.Copy(plane + element, stride, use);
                out.Zero(length - skip - use);
              });
    out.Finish();
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
