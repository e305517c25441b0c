#include "kernels/ops/conv/conv_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/checked_math.h"
#include "kernels/ops/checks.h"
#include "kernels/ops/window.h"

namespace tinyprof {
namespace {

int64_t FloorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
int64_t CeilDiv(int64_t a, int64_t b) { return -FloorDiv(-a, b); }

Status CheckOperands(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 3, 5));
  const size_t rank = signature.input(0).shape.rank();
  return CheckRank(signature, 1, rank, rank);
}

// The channels of X, the channels that W wants, and the groups that cut both.
Status CheckChannels(const NodeSignature& signature, const ConvShape& shape, int64_t wanted) {
  if (shape.groups < 1) {
    return BadAttribute(signature, fmt::format("group must be at least 1, got {}", shape.groups));
  }
  if (shape.in_channels != wanted) {
    return ShapeMismatch(
        signature,
        fmt::format("X has {} channels, W of shape {} with {} groups wants {}", shape.in_channels,
                    signature.input(1).shape.ToString(), shape.groups, wanted));
  }
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    return ShapeMismatch(signature,
                         fmt::format("{} input and {} output channels cannot be cut into {} groups",
                                     shape.in_channels, shape.out_channels, shape.groups));
  }
  return CheckInputShape(signature, 2, "B", Shape{shape.out_channels});
}

// Reads the window attributes, with the kernel's size from W.
Result<Window> WindowOf(const NodeSignature& signature) {
  const Shape& weight = signature.input(1).shape;
  const std::vector<int64_t> kernel(weight.dims().begin() + 2, weight.dims().end());
  if (signature.Ints("kernel_shape", kernel) != kernel) {
    return BadAttribute(
        signature,
        fmt::format("kernel_shape is not the kernel of W, whose shape is {}", weight.ToString()));
  }
  return ReadWindow(signature, kernel);
}

Result<Shape> OutputShape(const ConvShape& shape, const std::vector<int64_t>& spatial) {
  std::vector<int64_t> dims = {shape.batch, shape.out_channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return Shape::Create(std::move(dims));
}

// The pads of a ConvTranspose along one axis whose output length is given: what is too much is cut
// off, the odd element at the end for SAME_UPPER and at the beginning otherwise.
void CutToLength(int64_t full, int64_t wanted, bool upper, WindowAxis& axis) {
  const int64_t total = std::max<int64_t>(full - wanted, 0);
  axis.pad_begin = upper ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

// The output length of a ConvTranspose along axis `i`; sets the pads where they follow from it.
Result<int64_t> TransposedLength(const NodeSignature& signature, AutoPad auto_pad, int64_t input,
                                 int64_t output_padding, size_t i, WindowAxis& axis) {
  if (output_padding < 0 || output_padding > kMaxWindow) {
    return BadAttribute(signature,
                        fmt::format("output_padding {} is out of range", output_padding));
  }
  if (input == 0) return int64_t{0};
  TINYPROF_ASSIGN_OR_RETURN(const int64_t reach, CheckedMul(input - 1, axis.stride));
  TINYPROF_ASSIGN_OR_RETURN(int64_t full, CheckedAdd(reach, axis.span() + output_padding));
  const std::vector<int64_t> output_shape = signature.Ints("output_shape", {});
  const bool same = auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower;
  if (!output_shape.empty() || same) {
    TINYPROF_ASSIGN_OR_RETURN(const int64_t same_length, CheckedMul(input, axis.stride));
    const int64_t wanted = output_shape.empty() ? same_length : output_shape[i];
    // A little more than the input gives is padding of the output that goes without saying.
    if (wanted > full && wanted - full < std::max(axis.stride, axis.dilation)) full = wanted;
    if (wanted > full) {
      return ShapeMismatch(signature,
                           fmt::format("an output of length {} is longer than the {} that "
                                       "the input gives; raise output_padding",
                                       wanted, full));
    }
    CutToLength(full, wanted, auto_pad == AutoPad::kSameUpper, axis);
  }
  const int64_t length = full - axis.pad_begin - axis.pad_end;
  if (length >= 1) return length;
  return ShapeMismatch(signature,
                       fmt::format("pads {} and {} leave nothing of an output of length {}",
                                   axis.pad_begin, axis.pad_end, full));
}

ConvAxis MakeAxis(int64_t positions, int64_t extent, const WindowAxis& axis) {
  return {.positions = positions,
          .extent = extent,
          .kernel = axis.kernel,
          .stride = axis.stride,
          .dilation = axis.dilation,
          .pad_begin = axis.pad_begin};
}

}  // namespace

ConvAxis::Range ConvAxis::ValidPositions(int64_t tap) const {
  const int64_t first = CeilDiv(pad_begin - tap * dilation, stride);
  const int64_t last = FloorDiv(extent - 1 + pad_begin - tap * dilation, stride);
  const int64_t begin = std::clamp<int64_t>(first, 0, positions);
  return {begin, std::max(begin, std::min(last + 1, positions))};
}

int64_t ConvAxis::ValidTapCount() const {
  int64_t count = 0;
  for (int64_t tap = 0; tap < kernel; ++tap) {
    const Range range = ValidPositions(tap);
    count += range.end - range.begin;
  }
  return count;
}

Result<ConvShape> ConvShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckOperands(signature));
  const Shape& input = signature.input(0).shape;
  const Shape& weight = signature.input(1).shape;
  ConvShape shape;
  shape.batch = input[0];
  shape.groups = signature.Int("group", 1);
  shape.in_channels = input[1];
  shape.out_channels = weight[0];
  TINYPROF_ASSIGN_OR_RETURN(const int64_t wanted, CheckedMul(weight[1], shape.groups));
  TINYPROF_RETURN_IF_ERROR(CheckChannels(signature, shape, wanted));
  TINYPROF_ASSIGN_OR_RETURN(Window window, WindowOf(signature));
  std::vector<int64_t> spatial;
  for (size_t i = 0; i < window.rank; ++i) {
    WindowAxis& axis = window.axes[i];
    TINYPROF_ASSIGN_OR_RETURN(const int64_t length,
                              WindowedLength(signature, input[2 + i], window, axis));
    shape.axes[3 - window.rank + i] = MakeAxis(length, input[2 + i], axis);
    spatial.push_back(length);
  }
  TINYPROF_ASSIGN_OR_RETURN(shape.output, OutputShape(shape, spatial));
  return shape;
}

Result<ConvShape> ConvTransposeShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckOperands(signature));
  const Shape& input = signature.input(0).shape;
  const Shape& weight = signature.input(1).shape;
  ConvShape shape;
  shape.batch = input[0];
  shape.groups = signature.Int("group", 1);
  shape.in_channels = input[1];
  TINYPROF_ASSIGN_OR_RETURN(shape.out_channels, CheckedMul(weight[1], shape.groups));
  TINYPROF_RETURN_IF_ERROR(CheckChannels(signature, shape, weight[0]));
  TINYPROF_ASSIGN_OR_RETURN(Window window, WindowOf(signature));
  const std::vector<int64_t> paddings =
      signature.Ints("output_padding", std::vector<int64_t>(window.rank));
  const std::vector<int64_t> lengths =
      signature.Ints("output_shape", std::vector<int64_t>(window.rank));
  if (paddings.size() != window.rank || lengths.size() != window.rank) {
    return BadAttribute(
        signature,
        fmt::format("output_padding and output_shape must have {} elements", window.rank));
  }
  std::vector<int64_t> spatial;
  for (size_t i = 0; i < window.rank; ++i) {
    WindowAxis& axis = window.axes[i];
    TINYPROF_ASSIGN_OR_RETURN(
        const int64_t length,
        TransposedLength(signature, window.auto_pad, input[2 + i], paddings[i], i, axis));
    shape.axes[3 - window.rank + i] = MakeAxis(input[2 + i], length, axis);
    spatial.push_back(length);
  }
  TINYPROF_ASSIGN_OR_RETURN(shape.output, OutputShape(shape, spatial));
  return shape;
}

}  // namespace tinyprof
