// Attention and recurrent layers.
#include <fmt/format.h>

#include <cmath>

#include "kernels/zoo/layer_kinds.h"
#include "kernels/zoo/modules.h"
#include "kernels/zoo/transformer.h"

namespace tinyprof {
namespace {

constexpr int64_t kMaxStack = 64;

ValueId SwapFirstTwo(GraphBuilder& builder, const char* name, ValueId x) {
  return builder.Op("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0, 2}}}, name);
}

ValueId AttentionLayer(LayerContext& context) {
  LayerArguments& arguments = context.arguments;
  AttentionOptions options = {.dim = context.Size("embed_dim"), .heads = context.Size("num_heads")};
  options.bias = arguments.Bool("bias", true);
  const bool batch_first = arguments.Bool("batch_first", true);
  arguments.OnlyIf(!arguments.Bool("add_bias_kv", false), "add_bias_kv", "false");
  arguments.OnlyIf(!arguments.Bool("add_zero_attn", false), "add_zero_attn", "false");
  arguments.OnlyIf(!arguments.given("kdim"), "kdim", "none: keys are made from the input");
  arguments.OnlyIf(!arguments.given("vdim"), "vdim", "none: values are made from the input");
  arguments.OnlyIf(options.dim % options.heads == 0, "num_heads", "a divisor of embed_dim");
  const size_t rank = context.shape().rank();
  if (arguments.error() || (rank != 2 && !context.HasRank(3, "N x L x E or L x E")))
    return kNoValue;
  if (!context.HasDim(rank - 1, options.dim, "features")) return kNoValue;

  GraphBuilder& builder = context.builder;
  const ModuleScope scope(builder, context.name);
  ValueId x = context.x;
  const std::vector<int64_t> dims = context.shape().dims();
  if (rank == 2) x = Reshape(builder, "batched", x, {1, dims[0], dims[1]});
  if (rank == 3 && !batch_first) x = SwapFirstTwo(builder, "to_batch_first", x);
  x = SelfAttention(builder, "self", x, options).output;
  if (rank == 3 && !batch_first) x = SwapFirstTwo(builder, "from_batch_first", x);
  return rank == 2 ? Reshape(builder, "unbatched", x, dims) : x;
}

struct Recurrent {
  const char* op_type;
  int64_t gates;
  int64_t hidden = 0;
  int64_t directions = 1;
  bool bias = true;
};

// One layer of x[length, batch, features] -> [length, batch, directions * hidden].
ValueId RecurrentStep(GraphBuilder& builder, ValueId x, const Recurrent& options) {
  if (!builder.ok()) return kNoValue;
  const std::vector<int64_t> dims = builder.type(x).shape.dims();
  const int64_t rows = options.gates * options.hidden;
  std::vector<ValueId> inputs = {
      x, ScaledWeight(builder, "weight_ih", {options.directions, rows, dims[2]}, dims[2]),
      ScaledWeight(builder, "weight_hh", {options.directions, rows, options.hidden},
                   options.hidden)};
  if (options.bias) {
    inputs.push_back(
        ScaledWeight(builder, "bias", {options.directions, 2 * rows}, 3 * options.hidden));
  }
  Attributes attributes = {
      {"hidden_size", options.hidden},
      {"direction", std::string(options.directions == 2 ? "bidirectional" : "forward")}};
  if (options.op_type == std::string_view("GRU")) attributes["linear_before_reset"] = int64_t{1};
  const ValueId y = builder.Op(options.op_type, std::move(inputs), std::move(attributes));
  if (options.directions == 1) {
    return Reshape(builder, "joined", y, {dims[0], dims[1], options.hidden});
  }
  const ValueId swapped =
      builder.Op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}, "swapped");
  return Reshape(builder, "joined", swapped, {dims[0], dims[1], 2 * options.hidden});
}

ValueId RecurrentLayer(LayerContext& context, Recurrent options) {
  LayerArguments& arguments = context.arguments;
  const int64_t features = context.Size("input_size");
  options.hidden = context.Size("hidden_size");
  options.bias = arguments.Bool("bias", true);
  options.directions = arguments.Bool("bidirectional", false) ? 2 : 1;
  const int64_t stack = arguments.Int("num_layers", 1, 1, kMaxStack);
  const bool batch_first = arguments.Bool("batch_first", true);
  arguments.OnlyIf(!arguments.given("proj_size"), "proj_size", "none");
  if (arguments.error() ||
      !context.HasRank(3, batch_first ? "N x L x features" : "L x N x features") ||
      !context.HasDim(2, features, "features")) {
    return kNoValue;
  }
  GraphBuilder& builder = context.builder;
  const ModuleScope scope(builder, context.name);
  ValueId x = batch_first ? SwapFirstTwo(builder, "to_length_first", context.x) : context.x;
  for (int64_t i = 0; i < stack; ++i) {
    const ModuleScope layer(builder, fmt::format("l{}", i));
    x = RecurrentStep(builder, x, options);
  }
  return batch_first ? SwapFirstTwo(builder, "from_length_first", x) : x;
}

ValueId LstmLayer(LayerContext& context) {
  return RecurrentLayer(context, {.op_type = "LSTM", .gates = 4});
}
ValueId GruLayer(LayerContext& context) {
  return RecurrentLayer(context, {.op_type = "GRU", .gates = 3});
}
ValueId RnnLayer(LayerContext& context) {
  context.arguments.Word("nonlinearity", "tanh", {"tanh"});
  return RecurrentLayer(context, {.op_type = "RNN", .gates = 1});
}

}  // namespace

std::span<const LayerKind> SequenceLayerKinds() {
  static const std::vector<LayerKind> kinds = {
      {"mha",
       {{"embed_dim", true},
        {"num_heads", true},
        {"dropout"},
        {"bias"},
        {"add_bias_kv"},
        {"add_zero_attn"},
        {"kdim"},
        {"vdim"},
        {"batch_first"}},
       &AttentionLayer},
      {"lstm",
       {{"input_size", true},
        {"hidden_size", true},
        {"num_layers"},
        {"bias"},
        {"batch_first"},
        {"dropout"},
        {"bidirectional"},
        {"proj_size"}},
       &LstmLayer},
      {"gru",
       {{"input_size", true},
        {"hidden_size", true},
        {"num_layers"},
        {"bias"},
        {"batch_first"},
        {"dropout"},
        {"bidirectional"}},
       &GruLayer},
      {"rnn",
       {{"input_size", true},
        {"hidden_size", true},
        {"num_layers"},
        {"nonlinearity"},
        {"bias"},
        {"batch_first"},
        {"dropout"},
        {"bidirectional"}},
       &RnnLayer},
  };
  return kinds;
}

}  // namespace tinyprof
