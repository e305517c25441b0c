#include "kernels/zoo/layer_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/zoo/layer_arguments.h"
#include "kernels/zoo/layer_kinds.h"
#include "kernels/zoo/layer_syntax.h"
#include "kernels/zoo/modules.h"
#include "kernels/zoo/text.h"

namespace tinyprof {
namespace {

// Stacked layers make many nodes each; planning memory for more than this would take minutes.
constexpr ValueId kMaxValues = 65536;

struct BoundLayer {
  LayerCall call;
  const LayerKind* kind = nullptr;
};

// Turns reshape(-1, 16) into reshape((-1, 16)).
void JoinNumbers(LayerCall& call) {
  if (call.arguments.size() < 2) return;
  ArgumentValue list{.kind = ArgumentValue::Kind::kList,
                     .text = {},
                     .numbers = {},
                     .position = call.arguments[0].position};
  for (const Argument& argument : call.arguments) {
    if (!argument.name.empty() || argument.value.kind != ArgumentValue::Kind::kNumber) return;
    list.numbers.push_back(argument.value.text);
  }
  if (list.numbers.size() > kMaxListValues) return;
  call.arguments = {Argument{.name = {}, .value = std::move(list), .position = call.position}};
}

Result<std::vector<BoundLayer>> ParseLayers(std::string_view text) {
  TINYPROF_ASSIGN_OR_RETURN(std::vector<LayerCall> calls, ParseLayerList(text));
  std::vector<BoundLayer> layers;
  for (LayerCall& call : calls) {
    const LayerKind* kind = FindLayerKind(call.name);
    if (kind == nullptr) {
      const std::vector<std::string> names = LayerKindNames();
      const std::string shown = call.name.substr(0, 60);
      std::string hint = DidYouMean(call.name, names);
      if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(names, " "));
      return tl::unexpected<Error>(LayerListError(
          text, call.position, fmt::format("there is no layer '{}'{}", shown, hint)));
    }
    if (kind->variadic) JoinNumbers(call);
    layers.push_back({std::move(call), kind});
  }
  return layers;
}

Result<ValueId> AddInput(GraphBuilder& builder, std::string_view text, const BoundLayer& first,
                         std::vector<int64_t> dims, int64_t batch) {
  TINYPROF_ASSIGN_OR_RETURN(LayerArguments arguments,
                            LayerArguments::Bind(text, first.call, first.kind->parameters));
  if (dims.empty()) {
    if (first.kind->name != "linear") {
      return Fail(ErrorCode::kInvalidArgument, "BAD_INPUT",
                  fmt::format("the shape of the input does not follow from {}: pass --input, for "
                              "example --input {}",
                              first.call.text.substr(0, 80),
                              first.kind->name == "embedding" ? "1x128" : "1x3x32x32"));
    }
    dims = {batch, arguments.Int("in_features", 1, 1, kMaxFeatures)};
  }
  const bool tokens = first.kind->name == "embedding";
  const int64_t limit = tokens ? arguments.Int("num_embeddings", 1, 1, kMaxFeatures) : 0;
  if (arguments.error()) return tl::unexpected<Error>(*arguments.error());
  return tokens ? TokenInput(builder, "input", std::move(dims), limit)
                : FloatInput(builder, "input", std::move(dims));
}

// An error of the builder, told as one of the layer that the user wrote.
Error NameLayer(Error error, const BoundLayer& layer, size_t index) {
  std::string_view detail = error.message;
  // The builder begins with its own name for the node, "layer 3.conv2d (Conv): ".
  const size_t end = detail.find(": ");
  if (detail.starts_with("layer ") && end != std::string_view::npos) detail.remove_prefix(end + 2);
  error.message = fmt::format("layer {} {}: {}", index, layer.call.text.substr(0, 200), detail);
  error.metadata["layer"] = std::to_string(index);
  return error;
}

}  // namespace

Result<Graph> BuildLayerList(std::string_view text, const std::vector<int64_t>& input_dims,
                             int64_t batch, uint64_t seed) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<BoundLayer> layers, ParseLayers(text));
  GraphBuilder builder(std::string(text), "layers", seed);
  TINYPROF_ASSIGN_OR_RETURN(ValueId x, AddInput(builder, text, layers[0], input_dims, batch));
  if (!builder.ok()) return tl::unexpected<Error>(*builder.error());
  for (size_t i = 0; i < layers.size(); ++i) {
    const BoundLayer& layer = layers[i];
    TINYPROF_ASSIGN_OR_RETURN(LayerArguments arguments,
                              LayerArguments::Bind(text, layer.call, layer.kind->parameters));
    LayerContext context = {builder, arguments, fmt::format("{}.{}", i, layer.kind->name), x};
    x = layer.kind->build(context);
    if (arguments.error()) return tl::unexpected<Error>(*arguments.error());
    if (!builder.ok()) return tl::unexpected<Error>(NameLayer(*builder.error(), layer, i));
    if (x > kMaxValues) {
      return tl::unexpected<Error>(
          LayerListError(text, layer.call.position,
                         fmt::format("the model has more than {} tensors", kMaxValues)));
    }
  }
  return std::move(builder).Finish({x});
}

}  // namespace tinyprof
