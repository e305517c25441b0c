#include "kernels/ops/conv/eigen_unfold.h"

#include <algorithm>

#include "kernels/ops/conv/eigen_strided_copy.h"
#include "kernels/ops/matmul/eigen_panels.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

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
    const TapRow tap_row = TapRowOf(shape, tile.row_begin + row);
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
