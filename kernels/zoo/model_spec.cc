#include "kernels/zoo/model_spec.h"

#include <fmt/format.h>

#include "kernels/zoo/layer_kinds.h"
#include "kernels/zoo/layer_list.h"
#include "kernels/zoo/text.h"
#include "kernels/zoo/zoo.h"

namespace tinyprof {
namespace {

tl::unexpected<Error> BadInput(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_INPUT", std::move(message));
}

// The dimensions of the list's only input with the batch of --batch in them.
Result<std::vector<int64_t>> LayerListInput(const ModelSpec& spec) {
  if (spec.inputs.empty()) return std::vector<int64_t>{};
  if (spec.inputs.size() > 1) {
    return BadInput(fmt::format("a layer list has one input, got {} --input", spec.inputs.size()));
  }
  const auto& [name, dims] = spec.inputs[0];
  if (!name.empty() && name != "input") {
    return BadInput(fmt::format("a layer list has the input 'input', got --input {}=...", name));
  }
  if (dims.empty()) return BadInput("--input has no dimensions, wanted for example 32x784");
  std::vector<int64_t> with_batch = dims;
  if (spec.batch != 1 && dims[0] != spec.batch) {
    if (dims[0] != 1) {
      return BadInput(fmt::format("--input {} and --batch {} name different batches",
                                  Shape(dims).ToString(), spec.batch));
    }
    with_batch[0] = spec.batch;
  }
  return with_batch;
}

// A zoo model's inputs follow from its parameters; --input may only set the batch or repeat them.
Status CheckZooInputs(const Graph& graph, const ModelSpec& spec) {
  for (const auto& [name, dims] : spec.inputs) {
    const Value* match = nullptr;
    for (const ValueId id : graph.inputs) {
      if (match == nullptr && (name.empty() || graph.value(id).name == name)) {
        match = &graph.value(id);
      }
    }
    if (match == nullptr) {
      return BadInput(fmt::format("{} has no input '{}'", graph.name, name));
    }
    if (match->type.shape.dims() != dims) {
      return BadInput(fmt::format(
          "input '{}' of {} is {}, got {}: sizes of zoo models are set by "
          "parameters such as image=N or seq=N",
          match->name, graph.name, match->type.shape.ToString(), Shape(dims).ToString()));
    }
  }
  return {};
}

}  // namespace

Status CheckBatch(int64_t batch) {
  if (batch >= 1 && batch <= kMaxBatch) return {};
  return Fail(ErrorCode::kInvalidArgument, "BAD_BATCH",
              fmt::format("batch is {}, wanted an integer from 1 to {}", batch, kMaxBatch),
              {{"batch", std::to_string(batch)}});
}

bool IsLayerList(std::string_view text) {
  return text.find_first_of("(;") != std::string_view::npos ||
         FindLayerKind(Lower(Trim(text))) != nullptr;
}

Result<InputShape> ParseInputFlag(std::string_view text) {
  const size_t equals = text.rfind('=');
  const bool named = equals != std::string_view::npos;
  InputShape input;
  if (named) input.first = Trim(text.substr(0, equals));
  const std::string_view dims = Trim(named ? text.substr(equals + 1) : text);
  const std::string shown(text.substr(0, 100));
  if (named && input.first.empty()) {
    return BadInput(fmt::format("'{}' has no name before '=', wanted NAME=1x3x224x224", shown));
  }
  for (const std::string_view piece : SplitText(dims, 'x')) {
    const std::optional<int64_t> dim = ParseInt(piece);
    if (!dim || *dim < 1) {
      return BadInput(
          fmt::format("'{}' is no shape: wanted dimensions of at least 1 joined by x, as "
                      "in 32x784 or NAME=1x3x224x224",
                      shown));
    }
    input.second.push_back(*dim);
  }
  TINYPROF_RETURN_IF_ERROR(Shape::Create(input.second));
  return input;
}

Result<Graph> BuildModel(const ModelSpec& spec) {
  TINYPROF_RETURN_IF_ERROR(CheckBatch(spec.batch));
  for (const auto& [name, dims] : spec.inputs) TINYPROF_RETURN_IF_ERROR(Shape::Create(dims));
  const std::string_view text = Trim(spec.text);
  if (IsLayerList(text)) {
    TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, LayerListInput(spec));
    return BuildLayerList(text, dims, spec.batch, spec.seed);
  }
  int64_t batch = spec.batch;
  if (batch == 1 && !spec.inputs.empty() && !spec.inputs[0].second.empty()) {
    batch = spec.inputs[0].second[0];
    TINYPROF_RETURN_IF_ERROR(CheckBatch(batch));
  }
  TINYPROF_ASSIGN_OR_RETURN(Graph graph, BuildZooModel(text, batch, spec.seed));
  TINYPROF_RETURN_IF_ERROR(CheckZooInputs(graph, spec));
  return graph;
}

}  // namespace tinyprof
