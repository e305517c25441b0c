// The sizes behind a pooling node, with 1, 2 or 3 spatial axes.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/graph/graph.h"
#include "kernels/ops/window.h"

namespace tinyprof {

struct PoolAxis {
  int64_t input = 1;
  int64_t output = 1;
  WindowAxis window;

  // The taps [begin, end) of the window at `position` that lie inside the input.
  struct Range {
    int64_t begin;
    int64_t end;
  };
  Range ValidTaps(int64_t position) const;
  // The taps of that window inside the input and its pads: fewer than the kernel where ceil_mode
  // lets the last window hang over.
  int64_t PaddedTapCount(int64_t position) const;
  int64_t Element(int64_t position, int64_t tap) const {
    return position * window.stride + tap * window.dilation - window.pad_begin;
  }
};

// Fewer than 3 spatial axes are filled up in front by axes of length 1.
struct PoolShape {
  int64_t planes = 0;  // images x channels
  std::array<PoolAxis, 3> axes;
  bool count_include_pad = false;
  Shape output;

  int64_t input_count() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t output_count() const { return axes[0].output * axes[1].output * axes[2].output; }
  int64_t tap_count() const {
    return axes[0].window.kernel * axes[1].window.kernel * axes[2].window.kernel;
  }
};

// Of MaxPool and AveragePool. Every window must hold an element of the input: a pad has to be less
// than the window.
Result<PoolShape> PoolShapeOf(const NodeSignature& signature);
// Of GlobalMaxPool and GlobalAveragePool: one window over all spatial axes.
Result<PoolShape> GlobalPoolShapeOf(const NodeSignature& signature);

}  // namespace tinyprof
