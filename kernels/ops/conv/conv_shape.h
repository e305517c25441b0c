// The sizes behind a Conv or ConvTranspose node, with 1, 2 or 3 spatial axes.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/graph/graph.h"

namespace tinyprof {

// One spatial axis. A kernel is laid at each of `positions` places and its tap t of place p meets
// element p * stride + t * dilation - pad_begin of the other side, if that lies in [0, extent). For
// a Conv the places are outputs and the other side is the input; for a ConvTranspose the reverse.
struct ConvAxis {
  int64_t positions = 1;
  int64_t extent = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;

  int64_t Element(int64_t position, int64_t tap) const {
    return position * stride + tap * dilation - pad_begin;
  }
  // Pairs of a place and a tap that meet an element, by a closed form for each tap.
  int64_t ValidTapCount() const;
  // The places [begin, end) at which `tap` meets an element.
  struct Range {
    int64_t begin;
    int64_t end;
  };
  Range ValidPositions(int64_t tap) const;
};

// Fewer than 3 spatial axes are filled up in front by axes of length 1.
struct ConvShape {
  int64_t batch = 0;
  int64_t groups = 1;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  std::array<ConvAxis, 3> axes;
  Shape output;

  int64_t in_group() const { return in_channels / groups; }
  int64_t out_group() const { return out_channels / groups; }
  int64_t position_count() const {
    return axes[0].positions * axes[1].positions * axes[2].positions;
  }
  int64_t extent_count() const { return axes[0].extent * axes[1].extent * axes[2].extent; }
  int64_t tap_count() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

// X (N x C x spatial), W (M x C/groups x kernel), optional B (M).
Result<ConvShape> ConvShapeOf(const NodeSignature& signature);
// X (N x C x spatial), W (C x M/groups x kernel), optional B (M).
Result<ConvShape> ConvTransposeShapeOf(const NodeSignature& signature);

}  // namespace tinyprof
