// Convolutions and pools.
#include <fmt/format.h>

#include "kernels/zoo/layer_kinds.h"
#include "kernels/zoo/modules.h"

namespace tinyprof {
namespace {

constexpr std::string_view kLayouts[] = {"N x C x L", "N x C x H x W"};

// `padding` on both sides of every axis.
std::vector<int64_t> BothSides(const std::vector<int64_t>& padding) {
  std::vector<int64_t> pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

// The pads that keep the length at stride 1; an odd one goes to the end.
std::vector<int64_t> SamePads(const ConvOptions& options) {
  const size_t axes = options.kernel.size();
  std::vector<int64_t> pads(2 * axes);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t total = options.dilation[i] * (options.kernel[i] - 1);
    pads[i] = total / 2;
    pads[axes + i] = total - total / 2;
  }
  return pads;
}

void ReadPadding(LayerContext& context, size_t axes, ConvOptions& options) {
  LayerArguments& arguments = context.arguments;
  if (!arguments.is_word("padding")) {
    options.pads = BothSides(arguments.Ints("padding", axes, 0, 0, kMaxSpatial));
    return;
  }
  options.pads.assign(2 * axes, 0);
  if (arguments.Word("padding", "valid", {"valid", "same"}) == "valid") return;
  const bool unit_stride = options.stride == std::vector<int64_t>(axes, 1);
  arguments.OnlyIf(unit_stride, "padding", "numbers: 'same' goes with stride 1 only");
  options.pads = SamePads(options);
}

ValueId ConvLayer(LayerContext& context, size_t axes, bool transposed) {
  LayerArguments& arguments = context.arguments;
  ConvOptions options;
  options.in_channels = context.Size("in_channels");
  options.out_channels = context.Size("out_channels");
  options.kernel = arguments.Ints("kernel_size", axes, 1, 1, kMaxSpatial);
  options.stride = arguments.Ints("stride", axes, 1, 1, kMaxSpatial);
  options.dilation = arguments.Ints("dilation", axes, 1, 1, kMaxSpatial);
  options.output_padding = arguments.Ints("output_padding", axes, 0, 0, kMaxSpatial);
  options.groups = context.Size("groups");
  options.bias = arguments.Bool("bias", true);
  options.transposed = transposed;
  ReadPadding(context, axes, options);
  arguments.Word("padding_mode", "zeros", {"zeros"});
  const bool divides =
      options.in_channels % options.groups == 0 && options.out_channels % options.groups == 0;
  arguments.OnlyIf(divides, "groups", "a divisor of in_channels and of out_channels");
  if (arguments.error() || !context.HasRank(axes + 2, kLayouts[axes - 1])) return kNoValue;
  if (!context.HasDim(1, options.in_channels, "channels")) return kNoValue;
  return Conv(context.builder, context.name, context.x, options);
}

ValueId Conv1d(LayerContext& context) { return ConvLayer(context, 1, false); }
ValueId Conv2d(LayerContext& context) { return ConvLayer(context, 2, false); }
ValueId ConvTranspose2d(LayerContext& context) { return ConvLayer(context, 2, true); }

ValueId PoolLayer(LayerContext& context, const char* op_type, Attributes attributes) {
  LayerArguments& arguments = context.arguments;
  const std::vector<int64_t> kernel = arguments.Ints("kernel_size", 2, 1, 1, kMaxSpatial);
  const std::vector<int64_t> padding = arguments.Ints("padding", 2, 0, 0, kMaxSpatial);
  const bool padding_fits = padding[0] * 2 <= kernel[0] && padding[1] * 2 <= kernel[1];
  arguments.OnlyIf(padding_fits, "padding", "at most half of kernel_size");
  attributes["kernel_shape"] = kernel;
  attributes["strides"] =
      arguments.given("stride") ? arguments.Ints("stride", 2, 1, 1, kMaxSpatial) : kernel;
  attributes["pads"] = BothSides(padding);
  if (arguments.Bool("ceil_mode", false)) attributes["ceil_mode"] = int64_t{1};
  if (arguments.error() || !context.HasRank(4, kLayouts[1])) return kNoValue;
  return context.builder.Op(op_type, {context.x}, std::move(attributes), context.name);
}

ValueId MaxPool2dLayer(LayerContext& context) {
  LayerArguments& arguments = context.arguments;
  arguments.OnlyIf(!arguments.Bool("return_indices", false), "return_indices", "false");
  return PoolLayer(context, "MaxPool",
                   {{"dilations", arguments.Ints("dilation", 2, 1, 1, kMaxSpatial)}});
}

ValueId AvgPool2dLayer(LayerContext& context) {
  LayerArguments& arguments = context.arguments;
  arguments.OnlyIf(!arguments.given("divisor_override"), "divisor_override", "none");
  const bool include_pad = arguments.Bool("count_include_pad", true);
  return PoolLayer(context, "AveragePool", {{"count_include_pad", int64_t{include_pad}}});
}

ValueId AdaptiveAvgPool2dLayer(LayerContext& context) {
  const std::vector<int64_t> size = context.arguments.Ints("output_size", 2, 1, 1, kMaxSpatial);
  return AdaptiveAvgPool2d(context.builder, context.name, context.x, size[0], size[1]);
}

ValueId GlobalAvgPool2dLayer(LayerContext& context) {
  if (!context.HasRank(4, kLayouts[1])) return kNoValue;
  return context.builder.Op("GlobalAveragePool", {context.x}, {}, context.name);
}

}  // namespace

std::span<const LayerKind> SpatialLayerKinds() {
  static const std::vector<LayerParameter> conv = {{"in_channels", true},
                                                   {"out_channels", true},
                                                   {"kernel_size", true},
                                                   {"stride"},
                                                   {"padding"},
                                                   {"dilation"},
                                                   {"groups"},
                                                   {"bias"},
                                                   {"padding_mode"}};
  static const std::vector<LayerParameter> transposed = {{"in_channels", true},
                                                         {"out_channels", true},
                                                         {"kernel_size", true},
                                                         {"stride"},
                                                         {"padding"},
                                                         {"output_padding"},
                                                         {"groups"},
                                                         {"bias"},
                                                         {"dilation"},
                                                         {"padding_mode"}};
  static const std::vector<LayerParameter> max_pool = {{"kernel_size", true}, {"stride"},
                                                       {"padding"},           {"dilation"},
                                                       {"return_indices"},    {"ceil_mode"}};
  static const std::vector<LayerParameter> avg_pool = {{"kernel_size", true}, {"stride"},
                                                       {"padding"},           {"ceil_mode"},
                                                       {"count_include_pad"}, {"divisor_override"}};
  static const std::vector<LayerKind> kinds = {
      {"conv1d", conv, &Conv1d},
      {"conv2d", conv, &Conv2d},
      {"convtranspose2d", transposed, &ConvTranspose2d},
      {"maxpool2d", max_pool, &MaxPool2dLayer},
      {"avgpool2d", avg_pool, &AvgPool2dLayer},
      {"adaptiveavgpool2d", {{"output_size", true}}, &AdaptiveAvgPool2dLayer},
      {"globalavgpool2d", {}, &GlobalAvgPool2dLayer},
  };
  return kinds;
}

}  // namespace tinyprof
