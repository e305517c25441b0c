#include "kernels/zoo/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tinyprof {
namespace {

// The shape, or a scalar after making the builder fail.
Shape CheckedShape(GraphBuilder& builder, std::vector<int64_t> dims) {
  Result<Shape> shape = Shape::Create(std::move(dims));
  if (shape) return *std::move(shape);
  builder.SetError(std::move(shape).error());
  return {};
}

uint64_t SeedOf(std::string_view name) {
  uint64_t seed = 14695981039346656037ULL;  // FNV-1a
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return seed;
}

ValueId Bias(GraphBuilder& builder, int64_t features, int64_t fan_in) {
  const double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(fan_in, 1)));
  return builder.Weight("bias", CheckedShape(builder, {features}), bound);
}

}  // namespace

ValueId FloatInput(GraphBuilder& builder, std::string_view name, std::vector<int64_t> dims) {
  Shape shape = CheckedShape(builder, std::move(dims));
  return builder.Input(std::string(name), {DType::kFloat32, std::move(shape)},
                       Fill::Uniform(1, SeedOf(name)));
}

ValueId TokenInput(GraphBuilder& builder, std::string_view name, std::vector<int64_t> dims,
                   int64_t limit) {
  Shape shape = CheckedShape(builder, std::move(dims));
  return builder.Input(std::string(name), {DType::kInt64, std::move(shape)},
                       Fill::Integers(static_cast<double>(limit), SeedOf(name)));
}

ValueId ScaledWeight(GraphBuilder& builder, std::string_view name, std::vector<int64_t> dims,
                     int64_t fan_in, double gain) {
  const double bound = std::sqrt(3 * gain / static_cast<double>(std::max<int64_t>(fan_in, 1)));
  return builder.Weight(std::string(name), CheckedShape(builder, std::move(dims)), bound);
}

ValueId FilledParameter(GraphBuilder& builder, std::string_view name, std::vector<int64_t> dims,
                        double value) {
  Shape shape = CheckedShape(builder, std::move(dims));
  return builder.Parameter(std::string(name), {DType::kFloat32, std::move(shape)},
                           Fill::Constant(value));
}

ValueId Linear(GraphBuilder& builder, std::string_view name, ValueId x,
               const LinearOptions& options) {
  const ModuleScope scope(builder, name);
  const int64_t in = options.in_features;
  const int64_t out = options.out_features;
  if (builder.type(x).shape.rank() == 2) {
    const ValueId weight = ScaledWeight(builder, "weight", {out, in}, in, options.gain);
    std::vector<ValueId> inputs = {x, weight};
    if (options.bias) inputs.push_back(Bias(builder, out, in));
    return builder.Op("Gemm", std::move(inputs), {{"transB", int64_t{1}}});
  }
  const ValueId weight = ScaledWeight(builder, "weight", {in, out}, in, options.gain);
  const ValueId product = builder.Op("MatMul", {x, weight});
  if (!options.bias) return product;
  return builder.Op("Add", {product, Bias(builder, out, in)}, {}, "add");
}

ConvOptions SquareConv(int64_t in_channels, int64_t out_channels, int64_t kernel, int64_t stride,
                       int64_t padding) {
  return {.in_channels = in_channels,
          .out_channels = out_channels,
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .pads = {padding, padding, padding, padding},
          .dilation = {1, 1}};
}

ValueId Conv(GraphBuilder& builder, std::string_view name, ValueId x, const ConvOptions& options) {
  const ModuleScope scope(builder, name);
  // A transposed convolution's weight is [in, out / groups, ...], a convolution's the other way.
  const int64_t first = options.transposed ? options.in_channels : options.out_channels;
  const int64_t second =
      (options.transposed ? options.out_channels : options.in_channels) / options.groups;
  std::vector<int64_t> dims = {first, second};
  dims.insert(dims.end(), options.kernel.begin(), options.kernel.end());
  const Shape shape = CheckedShape(builder, dims);
  if (!builder.ok()) return kNoValue;
  const int64_t taps = shape.stride(1);
  const int64_t fan_in = options.transposed ? taps * first / options.groups : taps * second;
  std::vector<ValueId> inputs = {x, ScaledWeight(builder, "weight", dims, fan_in, options.gain)};
  if (options.bias) inputs.push_back(Bias(builder, options.out_channels, fan_in));
  Attributes attributes = {{"kernel_shape", options.kernel},
                           {"strides", options.stride},
                           {"pads", options.pads},
                           {"dilations", options.dilation},
                           {"group", options.groups}};
  if (options.transposed) attributes["output_padding"] = options.output_padding;
  return builder.Op(options.transposed ? "ConvTranspose" : "Conv", std::move(inputs),
                    std::move(attributes));
}

ValueId BatchNorm(GraphBuilder& builder, std::string_view name, ValueId x, int64_t channels,
                  double epsilon, double scale, bool affine) {
  const ModuleScope scope(builder, name);
  const TensorType vector{DType::kFloat32, CheckedShape(builder, {channels})};
  const auto add = [&](const char* key, double value, bool trained) {
    return trained ? builder.Parameter(key, vector, Fill::Constant(value))
                   : builder.Constant(key, vector, Fill::Constant(value));
  };
  const ValueId weight = add("weight", scale, affine);
  const ValueId bias = add("bias", 0, affine);
  const ValueId mean = add("running_mean", 0, false);
  const ValueId variance = add("running_var", 1, false);
  return builder.Op("BatchNormalization", {x, weight, bias, mean, variance},
                    {{"epsilon", static_cast<float>(epsilon)}});
}

ValueId LayerNorm(GraphBuilder& builder, std::string_view name, ValueId x,
                  const std::vector<int64_t>& dims, double epsilon, bool affine) {
  const ModuleScope scope(builder, name);
  const TensorType type{DType::kFloat32, CheckedShape(builder, dims)};
  std::vector<ValueId> inputs = {x};
  if (affine) {
    inputs.push_back(builder.Parameter("weight", type, Fill::Constant(1)));
    inputs.push_back(builder.Parameter("bias", type, Fill::Constant(0)));
  } else {
    inputs.push_back(builder.Constant("ones", type, Fill::Constant(1)));
  }
  return builder.Op(
      "LayerNormalization", std::move(inputs),
      {{"axis", -static_cast<int64_t>(dims.size())}, {"epsilon", static_cast<float>(epsilon)}});
}

ValueId MaxPool2d(GraphBuilder& builder, std::string_view name, ValueId x, int64_t kernel,
                  int64_t stride, int64_t padding) {
  return builder.Op("MaxPool", {x},
                    {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                     {"strides", std::vector<int64_t>{stride, stride}},
                     {"pads", std::vector<int64_t>(4, padding)}},
                    name);
}

ValueId AdaptiveAvgPool2d(GraphBuilder& builder, std::string_view name, ValueId x,
                          int64_t out_height, int64_t out_width) {
  if (!builder.ok()) return kNoValue;
  const Shape& shape = builder.type(x).shape;
  if (shape.rank() != 4 || out_height < 1 || out_width < 1 || shape[2] % out_height != 0 ||
      shape[3] % out_width != 0 || shape[2] == 0 || shape[3] == 0) {
    builder.SetError(
        {ErrorCode::kInvalidArgument,
         "SHAPE_MISMATCH",
         fmt::format("layer {}: input is {}, wanted N x C x H x W with H a multiple of {} "
                     "and W a multiple of {}",
                     name, shape.ToString(), out_height, out_width),
         {{"got", shape.ToString()}}});
    return kNoValue;
  }
  if (out_height == 1 && out_width == 1) return builder.Op("GlobalAveragePool", {x}, {}, name);
  const std::vector<int64_t> window = {shape[2] / out_height, shape[3] / out_width};
  return builder.Op("AveragePool", {x}, {{"kernel_shape", window}, {"strides", window}}, name);
}

ValueId EmbeddingTable(GraphBuilder& builder, std::string_view name, int64_t count, int64_t width) {
  const ModuleScope scope(builder, name);
  return ScaledWeight(builder, "weight", {count, width}, 3);
}

ValueId Reshape(GraphBuilder& builder, std::string_view name, ValueId x,
                const std::vector<int64_t>& dims) {
  const ModuleScope scope(builder, name);
  return builder.Op("Reshape", {x, builder.ConstantInts("shape", dims)});
}

}  // namespace tinyprof
