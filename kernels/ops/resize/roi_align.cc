#include "kernels/ops/resize/roi_align.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/onnx_types.h"

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

// Where a rectangle begins along an axis and how long it is there, in pixels.
struct Side {
  double begin = 0;
  double length = 0;
};
Side SideOf(const RoiAlignShape& shape, double begin, double end) {
  const double offset = shape.half_pixel ? 0.5 : 0;
  Side side{.begin = begin * shape.scale - offset};
  side.length = end * shape.scale - offset - side.begin;
  if (!shape.half_pixel) side.length = std::max(side.length, 1.0);
  return side;
}

// As a number that may be larger than an integer; 0 where a rectangle has no size, or NaN.
double SamplesAlong(const Side& side, int64_t bins) {
  const double samples = std::ceil(side.length / static_cast<double>(bins));
  return samples > 0 ? samples : 0;
}

using Rois = std::vector<std::array<double, 4>>;

// Nothing where they are data of the run.
Result<std::optional<Rois>> KnownRois(const NodeSignature& signature) {
  if (signature.inputs[1].data == nullptr && signature.input(1).shape.element_count() > 0) {
    return std::nullopt;
  }
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> numbers,
                            KnownNumbers(signature, 1, "rectangles"));
  Rois rois(numbers.size() / 4);
  for (size_t i = 0; i < numbers.size(); ++i) rois[i / 4][i % 4] = numbers[i];
  return rois;
}

Status CheckAdaptiveSamples(const NodeSignature& signature, const RoiAlignShape& shape) {
  TINYPROF_ASSIGN_OR_RETURN(const std::optional<Rois> rois, KnownRois(signature));
  if (!rois) {
    return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
                "RoiAlign with sampling_ratio 0 needs its rectangles (input 1) before the run, "
                "since how many samples it takes depends on them: make them an initializer of the "
                "model");
  }
  for (const std::array<double, 4>& roi : *rois) {
    const double rows = SamplesAlong(SideOf(shape, roi[1], roi[3]), shape.out_height);
    const double columns = SamplesAlong(SideOf(shape, roi[0], roi[2]), shape.out_width);
    if (rows <= kMaxSamples && columns <= kMaxSamples) continue;
    return Fail(ErrorCode::kResourceExhausted, "MODEL_TOO_LARGE",
                fmt::format("RoiAlign with sampling_ratio 0 has a rectangle that takes {} x {} "
                            "samples a bin, at most {} x {} are taken",
                            rows, columns, kMaxSamples, kMaxSamples));
  }
  return {};
}

FlopClasses BinClasses(const RoiAlignShape& shape, int64_t samples) {
  if (!shape.takes_maximum) return {.mac = 4 * samples, .add_mul_div = 1};
  return {.add_mul_div = 4 * samples, .minmax = std::max<int64_t>(4 * samples - 1, 0)};
}

// Of rectangles that each have their own number of samples.
Result<Cost> AdaptiveCost(const NodeSignature& signature, const RoiAlignShape& shape) {
  TINYPROF_RETURN_IF_ERROR(CheckAdaptiveSamples(signature, shape));
  TINYPROF_ASSIGN_OR_RETURN(const std::optional<Rois> rois, KnownRois(signature));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t bins,
                            CheckedProduct({shape.channels, shape.out_height, shape.out_width}));
  Cost cost;
  for (const std::array<double, 4>& roi : *rois) {
    const FlopClasses classes = BinClasses(shape, RoiSamplesOf(shape, roi).count());
    TINYPROF_ASSIGN_OR_RETURN(const Cost own, PerElementCost(classes, bins));
    TINYPROF_ASSIGN_OR_RETURN(cost.flops.mac, CheckedAdd(cost.flops.mac, own.flops.mac));
    TINYPROF_ASSIGN_OR_RETURN(cost.flops.add_mul_div,
                              CheckedAdd(cost.flops.add_mul_div, own.flops.add_mul_div));
    TINYPROF_ASSIGN_OR_RETURN(cost.flops.minmax, CheckedAdd(cost.flops.minmax, own.flops.minmax));
  }
  return cost;
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

RoiSamples RoiSamplesOf(const RoiAlignShape& shape, const std::array<double, 4>& roi) {
  if (shape.samples > 0) return {.rows = shape.samples, .columns = shape.samples};
  const auto along = [&](double begin, double end, int64_t bins) {
    return static_cast<int64_t>(
        std::min(SamplesAlong(SideOf(shape, begin, end), bins), static_cast<double>(kMaxSamples)));
  };
  return {.rows = along(roi[1], roi[3], shape.out_height),
          .columns = along(roi[0], roi[2], shape.out_width)};
}

RoiNeighbours RoiNeighboursOf(const RoiAlignShape& shape, const std::array<double, 4>& roi,
                              const RoiSamples& samples, int64_t row, int64_t column, int64_t i,
                              int64_t j) {
  const auto place = [&](const Side& side, int64_t bins, int64_t bin, int64_t sample,
                         int64_t count) {
    const double bin_length = side.length / static_cast<double>(bins);
    const double within = (static_cast<double>(sample) + 0.5) / static_cast<double>(count);
    return side.begin + (static_cast<double>(bin) + within) * bin_length;
  };
  Between x;
  Between y;
  const Side across = SideOf(shape, roi[0], roi[2]);
  const Side down = SideOf(shape, roi[1], roi[3]);
  if (!Find(place(across, shape.out_width, column, j, samples.columns), shape.in_width, x) ||
      !Find(place(down, shape.out_height, row, i, samples.rows), shape.in_height, y)) {
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
  if (shape.samples < 0 || shape.samples > kMaxSamples) {
    return BadAttribute(
        signature, fmt::format("sampling_ratio is {}, wanted 0 to {}", shape.samples, kMaxSamples));
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
  if (shape.samples == 0) {
    TINYPROF_RETURN_IF_ERROR(CheckAdaptiveSamples(signature, shape));
  }
  Result<Shape> output =
      Shape::Create({shape.rois, shape.channels, shape.out_height, shape.out_width});
  if (!output) return ShapeMismatch(signature, output.error().message);
  return std::vector<TensorType>{{signature.input(0).dtype, *std::move(output)}};
}

Result<Cost> RoiAlignCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const RoiAlignShape shape, RoiAlignShapeOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(Cost cost,
                            shape.samples == 0
                                ? AdaptiveCost(signature, shape)
                                : PerElementCost(BinClasses(shape, shape.samples * shape.samples),
                                                 signature.output().shape.element_count()));
  cost.valid_tap_mac_count = cost.flops.mac;
  return cost;
}

}  // namespace tinyprof
