#include "kernels/ops/conv/onednn_folding.h"

#include <vector>

namespace tinyprof {
namespace {

const float* DataOf(const NodeSignature& signature, size_t input) {
  return static_cast<const float*>(signature.inputs[input].data);
}

bool IsFolded(const FusedStep& step) {
  return step.kind == FusedStep::Kind::kBatchNorm || step.kind == FusedStep::Kind::kBias;
}

// Everything that is folded, as one line: y * factor + offset.
ChannelAffine LineOf(const NodeSignature& signature, const ConvFolding& folding, int64_t channel) {
  ChannelAffine line;
  if (signature.has_input(2)) line.offset = double{DataOf(signature, 2)[channel]};
  for (size_t i = 0; i < folding.step_count; ++i) {
    const FusedStep& step = signature.node->fusion->steps[i];
    if (step.kind == FusedStep::Kind::kBias) {
      line.offset += double{DataOf(signature, step.inputs[0])[channel]};
      continue;
    }
    const ChannelAffine affine = AffineOf(signature, step, channel);
    line.factor *= affine.factor;
    line.offset = line.offset * affine.factor + affine.offset;
  }
  return line;
}

}  // namespace

ConvFolding FoldingOf(const NodeSignature& signature, const ConvShape& shape) {
  ConvFolding folding;
  if (signature.node->fusion == nullptr) return folding;
  // An addend that only the run knows cannot be worked into another one.
  const bool has_bias = signature.has_input(2);
  if (has_bias && !signature.inputs[2].is_weight) return folding;
  int64_t flops_each = has_bias ? 1 : 0;
  for (const FusedStep& step : signature.node->fusion->steps) {
    if (!IsFolded(step)) break;
    ++folding.step_count;
    folding.makes_bias = true;
    const bool scales = step.kind == FusedStep::Kind::kBatchNorm;
    folding.scales = folding.scales || scales;
    flops_each += scales ? 2 : 1;
  }
  if (folding.makes_bias) folding.flop_count = (flops_each - 1) * shape.output.element_count();
  return folding;
}

std::function<void(float*)> FoldedWeights(const NodeSignature& signature, const ConvShape& shape,
                                          bool transposed) {
  return [signature, shape, transposed](float* out) {
    const ConvFolding folding = FoldingOf(signature, shape);
    std::vector<double> factors;
    for (int64_t c = 0; c < shape.out_channels; ++c) {
      factors.push_back(LineOf(signature, folding, c).factor);
    }
    // A Conv has M x C/groups x taps, a ConvTranspose C x M/groups x taps.
    const float* weights = DataOf(signature, 1);
    const int64_t rows = transposed ? shape.in_channels : shape.out_channels;
    const int64_t columns = transposed ? shape.out_group() : shape.in_group();
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t first = transposed ? row / shape.in_group() * shape.out_group() : row;
      for (int64_t column = 0; column < columns; ++column) {
        const double factor = factors[static_cast<size_t>(transposed ? first + column : first)];
        for (int64_t tap = 0; tap < shape.tap_count(); ++tap) {
          *out++ = static_cast<float>(double{*weights++} * factor);
        }
      }
    }
  };
}

std::function<void(float*)> FoldedBias(const NodeSignature& signature, const ConvShape& shape) {
  return [signature, shape](float* out) {
    const ConvFolding folding = FoldingOf(signature, shape);
    for (int64_t c = 0; c < shape.out_channels; ++c) {
      out[c] = static_cast<float>(LineOf(signature, folding, c).offset);
    }
  };
}

}  // namespace tinyprof
