// Unfolding (im2col): the input of a convolution as a matrix of taps by places.
#pragma once

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

// Writes the tile to `panels`, arranged as PackColumns (matmul/eigen_panels.h) does; taps on
// padding are 0. `x` points at the first channel of the group.
void Unfold(const ConvShape& shape, const float* x, const UnfoldTile& tile, float* panels);

// The reverse: adds the tile to `y`, the first channel of the group of output planes whose rows of
// taps start at row 0; taps on what is cut off are dropped.
void FoldAdd(const ConvShape& shape, const float* columns, const UnfoldTile& tile, float* y);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
