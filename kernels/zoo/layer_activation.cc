// Activation functions.
#include <fmt/format.h>

#include "kernels/zoo/layer_kinds.h"
#include "kernels/zoo/modules.h"

namespace tinyprof {
namespace {

template <const char* op_type>
ValueId Plain(LayerContext& context) {
  return context.builder.Op(op_type, {context.x}, {}, context.name);
}
constexpr char kRelu[] = "Relu";
constexpr char kSigmoid[] = "Sigmoid";
constexpr char kHardSwish[] = "HardSwish";
constexpr char kTanh[] = "Tanh";
constexpr char kSwish[] = "Swish";

// An operator with one float attribute called alpha.
ValueId WithAlpha(LayerContext& context, const char* op_type, const char* argument,
                  double fallback) {
  const double alpha = context.arguments.Float(argument, fallback);
  return context.builder.Op(op_type, {context.x}, {{"alpha", static_cast<float>(alpha)}},
                            context.name);
}

ValueId LeakyRelu(LayerContext& context) {
  return WithAlpha(context, "LeakyRelu", "negative_slope", 0.01);
}
ValueId Elu(LayerContext& context) { return WithAlpha(context, "Elu", "alpha", 1); }

ValueId PRelu(LayerContext& context) {
  const int64_t count = context.Size("num_parameters");
  const double slope = context.arguments.Float("init", 0.25);
  if (!context.builder.ok()) return kNoValue;
  const Shape& shape = context.shape();
  std::vector<int64_t> dims = {count};
  if (count > 1) {
    if (shape.rank() < 2) {
      return context.Mismatch(fmt::format("is {}", shape.ToString()), "N x C x ...");
    }
    if (!context.HasDim(1, count, "channels")) return kNoValue;
    // The slope of a channel is broadcast over the axes after it.
    dims.resize(shape.rank() - 1, 1);
  }
  const ModuleScope scope(context.builder, context.name);
  const ValueId weight = FilledParameter(context.builder, "weight", dims, slope);
  return context.builder.Op("PRelu", {context.x, weight});
}

ValueId Gelu(LayerContext& context) {
  const std::string approximate = context.arguments.Word("approximate", "none", {"none", "tanh"});
  return context.builder.Op("Gelu", {context.x}, {{"approximate", approximate}}, context.name);
}

ValueId HardSigmoid(LayerContext& context) {
  return context.builder.Op("HardSigmoid", {context.x}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}},
                            context.name);
}

ValueId Softplus(LayerContext& context) {
  context.arguments.OnlyIf(context.arguments.Float("beta", 1) == 1, "beta", "1");
  return context.builder.Op("Softplus", {context.x}, {}, context.name);
}

ValueId WithAxis(LayerContext& context, const char* op_type) {
  const int64_t limit = static_cast<int64_t>(kMaxListValues);
  const int64_t axis = context.arguments.Int("dim", -1, -limit, limit);
  return context.builder.Op(op_type, {context.x}, {{"axis", axis}}, context.name);
}
ValueId Softmax(LayerContext& context) { return WithAxis(context, "Softmax"); }
ValueId LogSoftmax(LayerContext& context) { return WithAxis(context, "LogSoftmax"); }

}  // namespace

std::span<const LayerKind> ActivationLayerKinds() {
  static const std::vector<LayerKind> kinds = {
      {"relu", {{"inplace"}}, &Plain<kRelu>},
      {"leakyrelu", {{"negative_slope"}, {"inplace"}}, &LeakyRelu},
      {"prelu", {{"num_parameters"}, {"init"}}, &PRelu},
      {"elu", {{"alpha"}, {"inplace"}}, &Elu},
      {"gelu", {{"approximate"}}, &Gelu},
      {"silu", {{"inplace"}}, &Plain<kSwish>},
      {"sigmoid", {}, &Plain<kSigmoid>},
      {"hardsigmoid", {{"inplace"}}, &HardSigmoid},
      {"hardswish", {{"inplace"}}, &Plain<kHardSwish>},
      {"tanh", {}, &Plain<kTanh>},
      {"softplus", {{"beta"}, {"threshold"}}, &Softplus},
      {"softmax", {{"dim"}}, &Softmax},
      {"logsoftmax", {{"dim"}}, &LogSoftmax},
  };
  return kinds;
}

}  // namespace tinyprof
