#include "kernels/ops/elementwise/eigen_epilogue.h"

#include <algorithm>

#include "kernels/base/check.h"
#include "kernels/graph/fusion.h"
#include "kernels/ops/elementwise/eigen_rows.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Elements that all steps run over before the next ones: they stay in the first-level cache.
constexpr int64_t kPiece = 1024;

}  // namespace

Epilogue::Epilogue(const NodeSignature& signature) {
  if (signature.node->fusion == nullptr) return;
  for (const FusedStep& fused : signature.node->fusion->steps) {
    Step& step = steps_.emplace_back();
    switch (fused.kind) {
      case FusedStep::Kind::kBatchNorm: {
        const int64_t channels = signature.input(fused.inputs[0]).shape.element_count();
        for (int64_t c = 0; c < channels; ++c) {
          const ChannelAffine affine = AffineOf(signature, fused, c);
          step.factors.push_back(static_cast<float>(affine.factor));
          step.offsets.push_back(static_cast<float>(affine.offset));
        }
        break;
      }
      case FusedStep::Kind::kBias:
        step.bias = fused.inputs[0];
        break;
      case FusedStep::Kind::kAdd:
        step.addend = fused.inputs[0];
        break;
      case FusedStep::Kind::kActivation:
        step.activation = FindRowFunction(fused.activation);
        step.coefficients = {.alpha = fused.alpha, .beta = fused.beta};
        TINYPROF_CHECK(step.activation != nullptr);
        break;
    }
  }
}

void Epilogue::RunOnPlane(const KernelArgs& args, int64_t begin, int64_t count,
                          int64_t channel) const {
  if (is_empty()) return;
  for (int64_t end = begin + count; begin < end; begin += kPiece) {
    const int64_t length = std::min(kPiece, end - begin);
    float* values = args.Out<float>() + begin;
    FloatRow y(values, length);
    for (const Step& step : steps_) {
      if (step.activation != nullptr) {
        step.activation(values, length, step.coefficients);
      } else if (step.addend != 0) {
        y += ConstFloatRow(args.In<float>(step.addend) + begin, length);
      } else if (step.bias != 0) {
        y += args.In<float>(step.bias)[channel];
      } else {
        const auto c = static_cast<size_t>(channel);
        y = y * step.factors[c] + step.offsets[c];
      }
    }
  }
}

void Epilogue::RunOnRows(const KernelArgs& args, int64_t begin, int64_t count,
                         int64_t row_length) const {
  if (is_empty()) return;
  const int64_t end = begin + count;
  while (begin < end) {
    const int64_t column = begin % row_length;
    const int64_t length = std::min({kPiece, end - begin, row_length - column});
    float* values = args.Out<float>() + begin;
    FloatRow y(values, length);
    for (const Step& step : steps_) {
      if (step.activation != nullptr) {
        step.activation(values, length, step.coefficients);
      } else if (step.addend != 0) {
        y += ConstFloatRow(args.In<float>(step.addend) + begin, length);
      } else {
        y += ConstFloatRow(args.In<float>(step.bias) + column, length);
      }
    }
    begin += length;
  }
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
