#include "kernels/ops/resize/grid_sample.h"

#include <fmt/format.h>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"

namespace tinyprof {
namespace {

// `place` mirrored at `low` and `high` until it lies between them.
double Reflected(double place, double low, double high) {
  const double span = high - low;
  if (span <= 0) return low;
  const double distance = std::fabs(place - low);
  const double turns = std::floor(distance / span);
  const double rest = distance - turns * span;
  return std::fmod(turns, 2) == 0 ? low + rest : high - rest;
}

// `place` moved into the image as the padding says.
double Padded(const GridSampleShape& shape, double place, int64_t length) {
  const auto last = static_cast<double>(length - 1);
  if (shape.padding == GridSampleShape::Padding::kBorder) return std::clamp(place, 0.0, last);
  if (shape.padding == GridSampleShape::Padding::kReflection) {
    const double margin = shape.align_corners ? 0 : 0.5;
    return std::clamp(Reflected(place, -margin, last + margin), 0.0, last);
  }
  return place;
}

int64_t IndexOf(double place, int64_t length) {
  const bool inside = place >= 0 && place <= static_cast<double>(length - 1);
  return inside ? static_cast<int64_t>(place) : -1;
}

// Keys' cubic convolution kernel with a = -0.75, at distances 1 + r, r, 1 - r, 2 - r.
std::array<double, 4> CubicWeights(double r) {
  constexpr double kA = -0.75;
  const auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  return {far(1 + r), near(r), near(1 - r), far(2 - r)};
}

}  // namespace

GridTaps TapsOf(const GridSampleShape& shape, double place, int64_t length) {
  const auto size = static_cast<double>(length);
  double at = shape.align_corners ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
  // What is no number, or far away, is outside.
  if (!(std::fabs(at) < 1e15)) at = -1e6;
  GridTaps taps;
  if (shape.mode == GridSampleShape::Mode::kNearest) {
    taps.indices[0] = IndexOf(std::nearbyint(Padded(shape, at, length)), length);
    taps.weights[0] = 1;
    return taps;
  }
  if (shape.mode == GridSampleShape::Mode::kLinear) {
    at = Padded(shape, at, length);
    const double first = std::floor(at);
    taps.indices = {IndexOf(first, length), IndexOf(first + 1, length), 0, 0};
    taps.weights = {1 - (at - first), at - first, 0, 0};
    return taps;
  }
  const double first = std::floor(at);
  taps.weights = CubicWeights(at - first);
  for (size_t i = 0; i < 4; ++i) {
    const double neighbour = first - 1 + static_cast<double>(i);
    taps.indices[i] = IndexOf(Padded(shape, neighbour, length), length);
  }
  return taps;
}

Result<GridSampleShape> GridSampleShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 4, 4));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 1, 4, 4));
  const Shape& image = signature.input(0).shape;
  const Shape& grid = signature.input(1).shape;
  if (grid[0] != image[0] || grid[3] != 2) {
    return ShapeMismatch(signature, fmt::format("a grid of shape {} does not fit images of {}",
                                                grid.ToString(), image.ToString()));
  }
  GridSampleShape shape{.batch = image[0],
                        .channels = image[1],
                        .in_height = image[2],
                        .in_width = image[3],
                        .out_height = grid[1],
                        .out_width = grid[2],
                        .align_corners = signature.Int("align_corners", 0) != 0};
  if (image[2] == 0 || image[3] == 0) return ShapeMismatch(signature, "the images are empty");
  const std::string mode = signature.String("mode", "bilinear");
  const std::string padding = signature.String("padding_mode", "zeros");
  if (mode == "nearest") {
    shape.mode = GridSampleShape::Mode::kNearest;
  } else if (mode == "bicubic" || mode == "cubic") {
    shape.mode = GridSampleShape::Mode::kCubic;
  } else if (mode != "bilinear" && mode != "linear") {
    return BadAttribute(signature, fmt::format("mode \"{}\" is not known", mode));
  }
  if (padding == "border") {
    shape.padding = GridSampleShape::Padding::kBorder;
  } else if (padding == "reflection") {
    shape.padding = GridSampleShape::Padding::kReflection;
  } else if (padding != "zeros") {
    return BadAttribute(signature, fmt::format("padding_mode \"{}\" is not known", padding));
  }
  return shape;
}

Result<std::vector<TensorType>> InferGridSample(const NodeSignature& signature,
                                                size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_ASSIGN_OR_RETURN(const GridSampleShape shape, GridSampleShapeOf(signature));
  Result<Shape> output =
      Shape::Create({shape.batch, shape.channels, shape.out_height, shape.out_width});
  if (!output) return ShapeMismatch(signature, output.error().message);
  return std::vector<TensorType>{{signature.input(0).dtype, *std::move(output)}};
}

Result<Cost> GridSampleCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const GridSampleShape shape, GridSampleShapeOf(signature));
  const int64_t taps = shape.taps() * shape.taps();
  return PerElementCost({.add_mul_div = taps == 1 ? 0 : 2 * taps - 1},
                        signature.output().shape.element_count());
}

}  // namespace tinyprof
