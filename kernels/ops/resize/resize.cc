#include "kernels/ops/resize/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/ops/checks.h"
#include "kernels/ops/onnx_types.h"

namespace tinyprof {
namespace {

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;
// Each position has taps of its own, which are kept.
constexpr double kMaxLength = 1 << 20;

// How one axis is sampled.
struct AxisRule {
  int64_t input = 1;
  int64_t output = 1;
  double scale = 1;
  double length = 1;  // of the result, before it is cut to a whole number
  double crop_begin = 0;
  double crop_end = 1;
};

bool IsGiven(const NodeSignature& signature, size_t index) {
  return signature.has_input(index) && signature.input(index).shape.element_count() > 0;
}

// The axes that the lists are about: all, or the attribute "axes".
Result<std::vector<size_t>> AxesOf(const NodeSignature& signature) {
  const size_t rank = signature.input(0).shape.rank();
  std::vector<size_t> axes;
  if (!signature.has_attribute("axes")) {
    for (size_t d = 0; d < rank; ++d) axes.push_back(d);
    return axes;
  }
  for (const int64_t axis : signature.Ints("axes", {})) {
    TINYPROF_ASSIGN_OR_RETURN(const size_t at, NormalizeAxis(signature, axis, rank));
    axes.push_back(at);
  }
  return axes;
}

Result<std::vector<double>> ListOf(const NodeSignature& signature, size_t index,
                                   std::string_view what, size_t length) {
  TINYPROF_ASSIGN_OR_RETURN(std::vector<double> list, KnownNumbers(signature, index, what));
  if (list.size() == length) return list;
  return ShapeMismatch(signature,
                       fmt::format("{} {} were given, wanted {}", list.size(), what, length));
}

Result<std::vector<AxisRule>> RulesOf(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  std::vector<AxisRule> rules;
  for (const int64_t dim : shape.dims()) {
    rules.push_back({.input = dim, .output = dim, .length = static_cast<double>(dim)});
  }
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<size_t> axes, AxesOf(signature));
  const bool crops =
      signature.String("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  if (crops) {
    TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> roi,
                              ListOf(signature, kRoi, "roi", 2 * axes.size()));
    for (size_t i = 0; i < axes.size(); ++i) {
      rules[axes[i]].crop_begin = roi[i];
      rules[axes[i]].crop_end = roi[i + axes.size()];
    }
  }
  const bool by_size = IsGiven(signature, kSizes);
  if (by_size == IsGiven(signature, kScales)) {
    return ShapeMismatch(signature, "wanted either scales or sizes");
  }
  TINYPROF_ASSIGN_OR_RETURN(
      const std::vector<double> wanted,
      ListOf(signature, by_size ? kSizes : kScales, by_size ? "sizes" : "scales", axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisRule& rule = rules[axes[i]];
    const auto input = static_cast<double>(rule.input);
    rule.length = by_size ? wanted[i] : input * wanted[i] * (rule.crop_end - rule.crop_begin);
    rule.scale = by_size ? wanted[i] / input : wanted[i];
    if (!(rule.scale > 0) || !(rule.length >= 0) || rule.length > std::max(kMaxLength, input)) {
      return ShapeMismatch(signature, fmt::format("axis {} of length {} cannot be resized to {}",
                                                  axes[i], rule.input, rule.length));
    }
    rule.output = static_cast<int64_t>(std::floor(rule.length));
  }
  return rules;
}

// The place in the input that output `x` samples.
Result<double> PlaceOf(const NodeSignature& signature, const std::string& mode,
                       const AxisRule& rule, int64_t x) {
  const auto at = static_cast<double>(x);
  const auto last = static_cast<double>(rule.input - 1);
  if (mode == "half_pixel") return (at + 0.5) / rule.scale - 0.5;
  if (mode == "asymmetric") return at / rule.scale;
  if (mode == "align_corners") return rule.length == 1 ? 0 : at * last / (rule.length - 1);
  if (mode == "pytorch_half_pixel") {
    return rule.output > 1 ? (at + 0.5) / rule.scale - 0.5 : 0;
  }
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5) / rule.scale;
  if (mode == "half_pixel_symmetric") {
    const auto input = static_cast<double>(rule.input);
    const double adjustment = static_cast<double>(rule.output) / (rule.scale * input);
    return input / 2 * (1 - adjustment) + (at + 0.5) / rule.scale - 0.5;
  }
  if (mode == "tf_crop_and_resize") {
    const double width = (rule.crop_end - rule.crop_begin) * last;
    const double step = rule.length == 1 ? 0.5 * width : at * width / (rule.length - 1);
    return rule.crop_begin * last + step;
  }
  return BadAttribute(signature,
                      fmt::format("coordinate_transformation_mode \"{}\" is not known", mode));
}

Result<double> NearestOf(const NodeSignature& signature, double place) {
  const std::string mode = signature.String("nearest_mode", "round_prefer_floor");
  if (mode == "round_prefer_floor") return std::ceil(place - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(place + 0.5);
  if (mode == "floor") return std::floor(place);
  if (mode == "ceil") return std::ceil(place);
  return BadAttribute(signature, fmt::format("nearest_mode \"{}\" is not known", mode));
}

// Keys' cubic convolution kernel with parameter a, at distances 1 + r, r, 1 - r, 2 - r.
std::array<double, 4> CubicWeights(double r, double a) {
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(1 + r), near(r), near(1 - r), far(2 - r)};
}

// Appends the taps around `place`.
Status AddTaps(const NodeSignature& signature, const std::string& mode, double place,
               ResizePass& pass) {
  constexpr double kFarAway = 1e15;
  if (!(std::fabs(place) <= kFarAway)) {
    return ShapeMismatch(signature, fmt::format("the place {} is sampled", place));
  }
  const size_t first = pass.weights.size();
  double begin = std::floor(place);
  if (mode == "nearest") {
    TINYPROF_ASSIGN_OR_RETURN(begin, NearestOf(signature, place));
    pass.weights.push_back(1);
  } else if (mode == "linear") {
    pass.weights.insert(pass.weights.end(), {1 - (place - begin), place - begin});
  } else {
    const double a = signature.Float("cubic_coeff_a", -0.75F);
    const std::array<double, 4> weights = CubicWeights(place - begin, a);
    pass.weights.insert(pass.weights.end(), weights.begin(), weights.end());
    begin -= 1;
  }
  const bool exclude = signature.Int("exclude_outside", 0) != 0;
  const auto last = static_cast<double>(pass.input - 1);
  double sum = 0;
  for (size_t i = first; i < pass.weights.size(); ++i) {
    const double at = begin + static_cast<double>(i - first);
    if (exclude && (at < 0 || at > last)) pass.weights[i] = 0;
    sum += pass.weights[i];
    pass.indices.push_back(static_cast<int64_t>(std::clamp(at, 0.0, last)));
  }
  for (size_t i = first; exclude && sum != 0 && i < pass.weights.size(); ++i) {
    pass.weights[i] /= sum;
  }
  return {};
}

bool IsIdentity(const ResizePass& pass) {
  if (pass.input != pass.output) return false;
  for (int64_t x = 0; x < pass.output; ++x) {
    for (int64_t t = 0; t < pass.taps; ++t) {
      const auto at = static_cast<size_t>(x * pass.taps + t);
      const bool is_own = pass.indices[at] == x;
      if (!is_own && pass.weights[at] != 0) return false;
    }
  }
  return true;
}

Status CheckAttributes(const NodeSignature& signature, const std::string& mode) {
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    return BadAttribute(signature, fmt::format("mode \"{}\" is not known", mode));
  }
  if (mode != "nearest") TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  const bool stretches = signature.String("keep_aspect_ratio_policy", "stretch") == "stretch";
  if (signature.Int("antialias", 0) == 0 && stretches) return {};
  return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
              "Resize with antialias or a keep_aspect_ratio_policy is not supported");
}

}  // namespace

int64_t ResizePlan::between_count() const {
  int64_t count = 0;
  for (size_t i = 0; i + 1 < passes.size(); ++i) {
    count = std::max(count, passes[i].output_count());
  }
  return count;
}

Result<ResizePlan> ResizePlanOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 1));
  std::string mode = signature.String("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  TINYPROF_RETURN_IF_ERROR(CheckAttributes(signature, mode));
  const std::string transformation =
      signature.String("coordinate_transformation_mode", "half_pixel");
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<AxisRule> rules, RulesOf(signature));
  ResizePlan plan{.is_nearest = mode == "nearest",
                  .extrapolation_value = signature.Float("extrapolation_value", 0)};
  std::vector<int64_t> dims;
  for (const AxisRule& rule : rules) dims.push_back(rule.output);
  Result<Shape> output = Shape::Create(dims);
  if (!output) return ShapeMismatch(signature, output.error().message);
  plan.output = *std::move(output);
  if (plan.output.element_count() == 0) return plan;
  std::vector<std::vector<bool>> outside;
  bool any_outside = false;
  for (size_t d = 0; d < rules.size(); ++d) {
    const AxisRule& rule = rules[d];
    if (rule.input == 0) return ShapeMismatch(signature, "an axis has no elements to sample");
    ResizePass pass{.axis = d, .input = rule.input, .output = rule.output};
    for (size_t before = 0; before < d; ++before) pass.outer *= rules[before].output;
    pass.inner = shape.stride(d);
    pass.taps = mode == "nearest" ? 1 : mode == "linear" ? 2 : 4;
    std::vector<bool>& out = outside.emplace_back();
    for (int64_t x = 0; x < rule.output; ++x) {
      TINYPROF_ASSIGN_OR_RETURN(const double place, PlaceOf(signature, transformation, rule, x));
      TINYPROF_RETURN_IF_ERROR(AddTaps(signature, mode, place, pass));
      out.push_back(place < 0 || place > static_cast<double>(rule.input - 1));
      any_outside = any_outside || out.back();
    }
    if (!IsIdentity(pass)) plan.passes.push_back(std::move(pass));
  }
  if (any_outside && transformation == "tf_crop_and_resize") plan.outside = std::move(outside);
  return plan;
}

}  // namespace tinyprof
