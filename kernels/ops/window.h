// The window attributes that convolutions and pools share: kernel, strides, dilations, pads,
// auto_pad.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/graph/graph.h"

namespace tinyprof {

// Largest kernel, stride, dilation or pad along one axis; keeps all index arithmetic in 63 bits.
inline constexpr int64_t kMaxWindow = int64_t{1} << 20;

struct WindowAxis {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  // Elements from the first to the last tap.
  int64_t span() const { return (kernel - 1) * dilation + 1; }
};

enum class AutoPad { kNotSet, kSameUpper, kSameLower, kValid };

struct Window {
  size_t rank = 0;  // 1 to 3
  std::array<WindowAxis, 3> axes;
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
};

// The window of a node with `kernel` (1 to 3 axes). INVALID_ARGUMENT / "BAD_ATTRIBUTE" for a list
// of the wrong length, a value out of range or an unknown auto_pad.
Result<Window> ReadWindow(const NodeSignature& signature, const std::vector<int64_t>& kernel);

// How many windows fit along an axis of `input` elements. Sets the pads of `axis` where auto_pad
// wants them computed. INVALID_ARGUMENT / "SHAPE_MISMATCH" when none fits; 0 for an empty axis.
Result<int64_t> WindowedLength(const NodeSignature& signature, int64_t input, const Window& window,
                               WindowAxis& axis);

}  // namespace tinyprof
