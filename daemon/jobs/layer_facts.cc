#include "daemon/jobs/layer_facts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace tinyprof {
namespace {

constexpr std::array<std::string_view, 24> kElementwise = {
    "Add",  "Sub",     "Mul",       "Div", "Pow",   "Max",  "Min",       "Relu",
    "Gelu", "Sigmoid", "Tanh",      "Exp", "Log",   "Sqrt", "Erf",       "Neg",
    "Abs",  "Clip",    "LeakyRelu", "Elu", "Where", "Cast", "HardSwish", "Reciprocal"};

int64_t ByteSizeOf(const v1::TensorInfo& tensor) {
  const std::optional<DType> dtype = DTypeFromName(tensor.dtype());
  int64_t bytes = dtype ? ByteSize(*dtype) : 0;
  for (const int64_t dim : tensor.shape()) bytes *= dim;
  return bytes;
}

}  // namespace

DataFlow::DataFlow(const v1::RunReport& report) {
  for (const v1::LayerReport& layer : report.layers()) {
    for (const v1::TensorInfo& output : layer.analysis().outputs()) {
      tensors_[output.name()].made_by_layer = true;
    }
    for (const v1::TensorInfo& input : layer.analysis().inputs()) {
      ++tensors_[input.name()].use_count;
    }
  }
  for (const v1::TensorInfo& output : report.analysis().outputs()) {
    ++tensors_[output.name()].use_count;
  }
}

int64_t DataFlow::FusableInputBytes(const v1::LayerAnalysis& layer) const {
  int64_t largest = 0;
  for (const v1::TensorInfo& input : layer.inputs()) {
    const auto found = tensors_.find(input.name());
    if (found == tensors_.end()) continue;
    if (!found->second.made_by_layer || found->second.use_count != 1) continue;
    largest = std::max(largest, ByteSizeOf(input));
  }
  return largest;
}

bool IsElementwise(const std::string& op) {
  return std::find(kElementwise.begin(), kElementwise.end(), op) != kElementwise.end();
}

DType ComputeDType(const v1::LayerAnalysis& layer) {
  for (const auto* tensors : {&layer.outputs(), &layer.inputs()}) {
    for (const v1::TensorInfo& tensor : *tensors) {
      if (tensor.dtype() == Name(DType::kFloat64)) return DType::kFloat64;
      if (tensor.dtype() == Name(DType::kFloat32)) return DType::kFloat32;
    }
  }
  return DType::kFloat32;
}

LayerFacts FactsOf(const v1::LayerReport& layer, const DataFlow& flow) {
  const v1::Cost& cost = layer.analysis().cost();
  LayerFacts facts{.flop_count = cost.flop_count(),
                   .weight_bytes = cost.weight_bytes(),
                   .activation_bytes = cost.input_bytes() + cost.output_bytes(),
                   .weight_element_bytes = ByteSize(ComputeDType(layer.analysis())),
                   .is_elementwise = IsElementwise(layer.analysis().op()),
                   .fusable_input_bytes = flow.FusableInputBytes(layer.analysis())};
  if (layer.time().median_ns() > 0) facts.elapsed_ns = layer.time().median_ns();
  return facts;
}

}  // namespace tinyprof
