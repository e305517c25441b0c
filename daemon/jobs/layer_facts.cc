#include "daemon/jobs/layer_facts.h"

#include <algorithm>
#include <optional>
#include <span>

#include "kernels/ops/families.h"
#include "kernels/ops/partition.h"
#include "kernels/runtime/session.h"

namespace tinyprof {
namespace {

int64_t ElementCountOf(const v1::TensorInfo& tensor) {
  int64_t count = 1;
  for (const int64_t dim : tensor.shape()) count *= dim;
  return count;
}

int64_t ByteSizeOf(const v1::TensorInfo& tensor) {
  const std::optional<DType> dtype = DTypeFromName(tensor.dtype());
  return dtype ? ByteSize(*dtype) * ElementCountOf(tensor) : 0;
}

// A time that has no interval stands for both of its ends.
std::optional<TimeInterval> IntervalOf(const v1::TimeStats& time) {
  if (!(time.median_ns() > 0)) return std::nullopt;
  if (!(time.ci_low_ns() > 0)) return TimeInterval{time.median_ns(), time.median_ns()};
  return TimeInterval{time.ci_low_ns(), std::max(time.median_ns(), time.ci_high_ns())};
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

int64_t DataFlow::GivenInputBytes(const v1::LayerAnalysis& layer) const {
  int64_t sum = 0;
  for (const v1::TensorInfo& input : layer.inputs()) {
    const auto found = tensors_.find(input.name());
    if (found == tensors_.end() || !found->second.made_by_layer) sum += ByteSizeOf(input);
  }
  return sum;
}

bool IsElementwise(const std::string& op) {
  const std::span<const Operator> operators = ElementwiseOperators();
  return std::any_of(operators.begin(), operators.end(),
                     [&](const Operator& one) { return one.type == op; });
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

bool IsShared(const v1::LayerReport& layer) {
  constexpr int64_t kProductsOfOneOperation = 16;
  const v1::LayerAnalysis& analysis = layer.analysis();
  int64_t operations = analysis.cost().mac_count() / kProductsOfOneOperation;
  if (operations == 0) {
    for (const v1::TensorInfo& output : analysis.outputs()) {
      operations = std::max(operations, ElementCountOf(output));
    }
  }
  return operations >= kMinParallelElements;
}

bool IsWinograd(const v1::LayerReport& layer) {
  return layer.implementation().find("wino") != std::string::npos;
}

std::optional<double> DispatchNs(const v1::LayerReport& layer, const v1::Overhead& overhead) {
  if (!overhead.has_dispatch_ns()) return std::nullopt;
  const bool starts_team = layer.backend() == Name(Backend::kEigen) && IsShared(layer);
  return starts_team && overhead.has_team_dispatch_ns() ? overhead.team_dispatch_ns()
                                                        : overhead.dispatch_ns();
}

LayerFacts FactsOf(const v1::LayerReport& layer, const DataFlow& flow) {
  const v1::Cost& cost = layer.analysis().cost();
  LayerFacts facts{.flop_count = cost.flop_count(),
                   .weight_bytes = cost.weight_bytes(),
                   .activation_bytes = cost.input_bytes() + cost.output_bytes(),
                   .weight_element_bytes = ByteSize(ComputeDType(layer.analysis())),
                   .is_elementwise = IsElementwise(layer.analysis().op()),
                   .fusable_input_bytes = flow.FusableInputBytes(layer.analysis())};
  facts.time = IntervalOf(layer.time());
  return facts;
}

}  // namespace tinyprof
