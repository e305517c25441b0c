#include "kernels/graph/fusion.h"

#include <cmath>

namespace tinyprof {

NodeSignature PartSignature(const NodeSignature& fused, size_t part) {
  const std::vector<FusedPart>& parts = fused.node->fusion->parts;
  NodeSignature signature;
  signature.node = &parts[part].node;
  for (const FusedPart::Source& source : parts[part].sources) {
    switch (source.kind) {
      case FusedPart::Source::Kind::kNothing:
        signature.inputs.emplace_back();
        break;
      case FusedPart::Source::Kind::kInput:
        signature.inputs.push_back(fused.inputs[source.index]);
        break;
      case FusedPart::Source::Kind::kPart:
        signature.inputs.push_back({.type = parts[source.index].output, .present = true});
        break;
    }
  }
  signature.outputs = {parts[part].output};
  return signature;
}

ChannelAffine AffineOf(const NodeSignature& fused, const FusedStep& step, int64_t channel) {
  const auto element = [&](size_t input) {
    return double{static_cast<const float*>(fused.inputs[step.inputs[input]].data)[channel]};
  };
  ChannelAffine affine;
  affine.factor = element(0) / std::sqrt(element(3) + double{step.epsilon});
  affine.offset = element(1) - element(2) * affine.factor;
  return affine;
}

}  // namespace tinyprof
