// Nodes of a network that run as one: which they are, and what follows the first of them.
//
// PlanFusion() (kernels/runtime/fusion_plan.h) makes such nodes. A fused node has the operator, the
// attributes and the inputs of its first part, then the other inputs of its parts, each value once.
// Its output is that of its last part and has the shape of the first one's. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/graph/graph.h"

namespace tinyprof {

struct FusedPart {
  struct Source {
    enum class Kind { kNothing, kInput, kPart };
    Kind kind = Kind::kNothing;  // an omitted input, an input of the fused node, an earlier part
    size_t index = 0;            // of that input or part
  };

  Node node;                    // as the network has it, with the ValueIds of the graph
  std::vector<Source> sources;  // by input of `node`
  TensorType output;            // a part has one
};

// What is done to each element y of the first part's output, whose channel is c.
struct FusedStep {
  enum class Kind {
    kBatchNorm,   // y * factor[c] + offset[c]; inputs: scale, bias, mean, variance
    kBias,        // y + input[c]
    kAdd,         // y + the element at the same place of an input of the output's shape
    kActivation,  // the ONNX operator `activation` of y
  };

  Kind kind = Kind::kActivation;
  std::vector<size_t> inputs;  // among those of the fused node
  std::string activation;      // kActivation: "Relu", "HardSwish", ...; "Clip" to [alpha, beta];
                               // "GeluTanh" is the Gelu that is approximated by tanh
  float alpha = 0;             // coefficients of the activation
  float beta = 0;
  float epsilon = 0;  // kBatchNorm
};

struct Fusion {
  std::vector<FusedPart> parts;  // in the order in which the network has them
  std::vector<FusedStep> steps;  // what all parts but the first come to
};

// The signature of one part of a fused node. `fused` must outlive it.
NodeSignature PartSignature(const NodeSignature& fused, size_t part);

// What kBatchNorm comes to for channel `channel`, worked out in double: y * factor + offset with
// factor = scale / sqrt(variance + epsilon) and offset = bias - mean * factor. Reads the data of
// the step's inputs.
struct ChannelAffine {
  double factor = 1;
  double offset = 0;
};
ChannelAffine AffineOf(const NodeSignature& fused, const FusedStep& step, int64_t channel);

}  // namespace tinyprof
