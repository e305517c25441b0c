#include "kernels/ops/pool/pool_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/checked_math.h"
#include "kernels/ops/checks.h"

namespace tinyprof {
namespace {

// How many taps of a window whose first tap is at `start` lie before `end`.
int64_t TapsBefore(int64_t end, int64_t start, const WindowAxis& window) {
  if (end <= start) return 0;
  return std::min(window.kernel, (end - 1 - start) / window.dilation + 1);
}

// Each window has to hold an element, or its maximum and its mean would be of nothing. Where the
// input is shorter than the dilation any window may step over it, elsewhere only the first and the
// last.
Status CheckWindows(const NodeSignature& signature, const PoolAxis& axis) {
  if (axis.output == 0) return {};
  const int64_t step =
      axis.window.dilation > axis.input ? 1 : std::max<int64_t>(axis.output - 1, 1);
  for (int64_t position = 0; position < axis.output; position += step) {
    const PoolAxis::Range taps = axis.ValidTaps(position);
    if (taps.begin < taps.end) continue;
    return ShapeMismatch(
        signature, fmt::format("a window lies wholly on the pads {} and {}; pads must be less "
                               "than the window of {} elements",
                               axis.window.pad_begin, axis.window.pad_end, axis.window.span()));
  }
  return {};
}

}  // namespace

PoolAxis::Range PoolAxis::ValidTaps(int64_t position) const {
  const int64_t start = position * window.stride - window.pad_begin;
  const int64_t begin = TapsBefore(0, start, window);
  return {begin, std::max(begin, TapsBefore(input, start, window))};
}

int64_t PoolAxis::PaddedTapCount(int64_t position) const {
  return TapsBefore(input + window.pad_end, position * window.stride - window.pad_begin, window);
}

Result<PoolShape> PoolShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 3, 5));
  const Shape& input = signature.input(0).shape;
  const std::vector<int64_t> kernel = signature.Ints("kernel_shape", {});
  if (kernel.size() != input.rank() - 2) {
    return BadAttribute(signature, fmt::format("kernel_shape has {} elements, wanted {}",
                                               kernel.size(), input.rank() - 2));
  }
  TINYPROF_ASSIGN_OR_RETURN(Window window, ReadWindow(signature, kernel));
  PoolShape shape;
  shape.planes = input[0] * input[1];
  shape.count_include_pad = signature.Int("count_include_pad", 0) != 0;
  std::vector<int64_t> dims = {input[0], input[1]};
  for (size_t i = 0; i < window.rank; ++i) {
    PoolAxis& axis = shape.axes[3 - window.rank + i];
    axis.input = input[2 + i];
    TINYPROF_ASSIGN_OR_RETURN(axis.output,
                              WindowedLength(signature, axis.input, window, window.axes[i]));
    axis.window = window.axes[i];
    TINYPROF_RETURN_IF_ERROR(CheckWindows(signature, axis));
    dims.push_back(axis.output);
  }
  TINYPROF_ASSIGN_OR_RETURN(shape.output, Shape::Create(std::move(dims)));
  return shape;
}

Result<PoolShape> GlobalPoolShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 3));
  const Shape& input = signature.input(0).shape;
  PoolShape shape;
  shape.planes = input[0] * input[1];
  PoolAxis& axis = shape.axes[2];
  std::vector<int64_t> dims = {input[0], input[1]};
  for (size_t i = 2; i < input.rank(); ++i) {
    axis.input *= input[i];
    dims.push_back(1);
  }
  if (axis.input == 0) {
    return ShapeMismatch(signature,
                         fmt::format("X has shape {} with no spatial elements", input.ToString()));
  }
  axis.window.kernel = axis.input;
  shape.output = Shape(std::move(dims));
  return shape;
}

}  // namespace tinyprof
