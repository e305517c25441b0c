#include "kernels/ops/resize/roi_align.h"

#include <fmt/format.h>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"

namespace tinyprof {
namespace {

constexpr int64_t kMaxSamples = 1024;
constexpr int64_t kMaxBins = int64_t{1} << 20;

// The pixels on both sides of a place along an axis; false where it is outside of the image.
struct Between {
  int64_t low = 0;
  int64_t high = 0;
  double share = 0;  // of the higher one
};
bool Find(double place, int64_t length, Between& between) {
  // Written so that NaN is outside.
  if (!(place >= -1 && place <= static_cast<double>(length))) return false;
  place = std::max(place, 0.0);
  between.low = std::min(static_cast<int64_t>(place), length - 1);
  between.high = std::min(between.low + 1, length - 1);
  between.share = between.low == length - 1 ? 0 : place - static_cast<double>(between.low);
  return true;
}

Status CheckOperands(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 4, 4));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 1, 2, 2));
  if (signature.input(1).dtype != signature.input(0).dtype ||
      signature.input(2).dtype != DType::kInt64) {
    return ShapeMismatch(signature, "wanted rectangles of the images' type and int64 indices");
  }
  const Shape& rois = signature.input(1).shape;
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 1, "rois", Shape{rois[0], 4}));
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 2, "batch_indices", Shape{rois[0]}));
  const Shape& images = signature.input(0).shape;
  if (images[0] == 0 || images[2] == 0 || images[3] == 0) {
    return ShapeMismatch(signature, "the images are empty");
  }
  return CheckKnownIndices(signature, 2, {images[0]});
}

}  // namespace

RoiNeighbours RoiNeighboursOf(const RoiAlignShape& shape, const std::array<double, 4>& roi,
                              int64_t row, int64_t column, int64_t i, int64_t j) {
  const double offset = shape.half_pixel ? 0.5 : 0;
  const auto place = [&](double begin, double end, int64_t bins, int64_t bin, int64_t sample) {
    begin = begin * shape.scale - offset;
    double length = end * shape.scale - offset - begin;
    if (!shape.half_pixel) length = std::max(length, 1.0);
    const double bin_length = length / static_cast<double>(bins);
    const double within = (static_cast<double>(sample) + 0.5) / static_cast<double>(shape.samples);
    return begin + (static_cast<double>(bin) + within) * bin_length;
  };
  Between x;
  Between y;
  if (!Find(place(roi[0], roi[2], shape.out_width, column, j), shape.in_width, x) ||
      !Find(place(roi[1], roi[3], shape.out_height, row, i), shape.in_height, y)) {
    return {};
  }
  const int64_t width = shape.in_width;
  return {.offsets = {y.low * width + x.low, y.low * width + x.high, y.high * width + x.low,
                      y.high * width + x.high},
          .weights = {(1 - y.share) * (1 - x.share), (1 - y.share) * x.share,
                      y.share * (1 - x.share), y.share * x.share}};
}

Result<RoiAlignShape> RoiAlignShapeOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckOperands(signature));
  const Shape& images = signature.input(0).shape;
  RoiAlignShape shape{.images = images[0],
                      .channels = images[1],
                      .in_height = images[2],
                      .in_width = images[3],
                      .rois = signature.input(1).shape[0],
                      .out_height = signature.Int("output_height", 1),
                      .out_width = signature.Int("output_width", 1),
                      .samples = signature.Int("sampling_ratio", 0),
                      .scale = signature.Float("spatial_scale", 1)};
  for (const int64_t bins : {shape.out_height, shape.out_width}) {
    if (bins < 1 || bins > kMaxBins) {
      return BadAttribute(signature,
                          fmt::format("an output of {} bins, wanted 1 to {}", bins, kMaxBins));
    }
  }
  if (shape.samples == 0) {
    return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
                "RoiAlign with sampling_ratio 0 is not supported: how many samples it takes would "
                "depend on the rectangles");
  }
  if (shape.samples < 0 || shape.samples > kMaxSamples) {
    return BadAttribute(
        signature, fmt::format("sampling_ratio is {}, wanted 1 to {}", shape.samples, kMaxSamples));
  }
  const std::string mode = signature.String("mode", "avg");
  const std::string transformation =
      signature.String("coordinate_transformation_mode", "half_pixel");
  if (mode != "avg" && mode != "max") {
    return BadAttribute(signature, fmt::format("mode \"{}\" is not known", mode));
  }
  if (transformation != "half_pixel" && transformation != "output_half_pixel") {
    return BadAttribute(signature, fmt::format("coordinate_transformation_mode \"{}\" is not known",
                                               transformation));
  }
  shape.takes_maximum = mode == "max";
  shape.half_pixel = transformation == "half_pixel";
  return shape;
}

Result<std::vector<TensorType>> InferRoiAlign(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const RoiAlignShape shape, RoiAlignShapeOf(signature));
  Result<Shape> output =
      Shape::Create({shape.rois, shape.channels, shape.out_height, shape.out_width});
  if (!output) return ShapeMismatch(signature, output.error().message);
  return std::vector<TensorType>{{signature.input(0).dtype, *std::move(output)}};
}

Result<Cost> RoiAlignCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const RoiAlignShape shape, RoiAlignShapeOf(signature));
  const int64_t samples = shape.samples * shape.samples;
  const FlopClasses classes =
      shape.takes_maximum ? FlopClasses{.add_mul_div = 4 * samples, .minmax = 4 * samples - 1}
                          : FlopClasses{.mac = 4 * samples, .add_mul_div = 1};
  TINYPROF_ASSIGN_OR_RETURN(Cost cost,
                            PerElementCost(classes, signature.output().shape.element_count()));
  cost.valid_tap_mac_count = cost.flops.mac;
  return cost;
}

}  // namespace tinyprof
