#include "kernels/ops/onednn_fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "kernels/base/check.h"

namespace tinyprof::onednn {
namespace {

using dnnl::algorithm;

struct Function {
  std::string_view activation;
  algorithm function;
};
constexpr std::array kFunctions = {
    Function{"Relu", algorithm::eltwise_relu},
    Function{"LeakyRelu", algorithm::eltwise_relu},
    Function{"Elu", algorithm::eltwise_elu},
    Function{"Clip", algorithm::eltwise_clip},
    Function{"Sigmoid", algorithm::eltwise_logistic},
    Function{"HardSwish", algorithm::eltwise_hardswish},
    Function{"Tanh", algorithm::eltwise_tanh},
    Function{"Gelu", algorithm::eltwise_gelu_erf},
    Function{"GeluTanh", algorithm::eltwise_gelu_tanh},
    Function{"Softplus", algorithm::eltwise_soft_relu},
};

void AppendActivation(const FusedStep& step, dnnl::post_ops& operations) {
  // The library has no such function, but a line and a clip.
  if (step.activation == "HardSigmoid") {
    operations.append_eltwise(1, algorithm::eltwise_linear, step.alpha, step.beta);
    operations.append_eltwise(1, algorithm::eltwise_clip, 0, 1);
    return;
  }
  if (step.activation == "Swish") {
    operations.append_eltwise(1, algorithm::eltwise_swish, 1, 0);
    return;
  }
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) {
    return f.activation == step.activation;
  });
  TINYPROF_CHECK(found != kFunctions.end());
  operations.append_eltwise(1, found->function, step.alpha, step.beta);
}

void Append(const FusedStep& step, const Dims& by_channel, After& after) {
  switch (step.kind) {
    case FusedStep::Kind::kActivation:
      AppendActivation(step, after.operations);
      break;
    case FusedStep::Kind::kAdd:
      after.operations.append_sum();
      after.summed = step.inputs[0];
      break;
    case FusedStep::Kind::kBias: {
      const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(after.operations.len()) | DNNL_ARG_SRC_1;
      after.operands.push_back(Input(argument, step.inputs[0], Plain(by_channel)));
      after.operations.append_binary(algorithm::binary_add, Plain(by_channel));
      break;
    }
    case FusedStep::Kind::kBatchNorm:
      // It follows a convolution at once, which folds it into its weights.
      TINYPROF_CHECK(false);
  }
}

std::string_view NameOf(const FusedStep& step) {
  switch (step.kind) {
    case FusedStep::Kind::kBatchNorm:
      return "BatchNorm";
    case FusedStep::Kind::kBias:
      return "Bias";
    case FusedStep::Kind::kAdd:
      return "Add";
    case FusedStep::Kind::kActivation:
      break;
  }
  return step.activation;
}

}  // namespace

After AfterOf(const NodeSignature& signature, size_t first, const Dims& by_channel,
              dnnl::post_ops before) {
  After after;
  after.operations = std::move(before);
  if (signature.node->fusion == nullptr) return after;
  const std::vector<FusedStep>& steps = signature.node->fusion->steps;
  for (size_t i = first; i < steps.size(); ++i) Append(steps[i], by_channel, after);
  return after;
}

bool RepeatsFunction(const dnnl::post_ops& operations) {
  std::set<algorithm> seen;
  for (int i = 0; i < operations.len(); ++i) {
    if (operations.kind(i) != dnnl::primitive::kind::eltwise) continue;
    float scale = 0;
    float alpha = 0;
    float beta = 0;
    algorithm function{};
    operations.get_params_eltwise(i, scale, function, alpha, beta);
    if (!seen.insert(function).second) return true;
  }
  return false;
}

std::string StepNames(const NodeSignature& signature) {
  if (signature.node->fusion == nullptr) return "";
  std::string names;
  for (const FusedStep& step : signature.node->fusion->steps) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", NameOf(step));
  }
  return names;
}

}  // namespace tinyprof::onednn
