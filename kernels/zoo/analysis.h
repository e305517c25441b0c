// What a graph should cost, layer by layer, without running it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/ops/cost.h"
#include "kernels/tensor/shape.h"

namespace tinyprof {

struct LayerAnalysis {
  int64_t index = 0;  // of the node, in execution order
  std::string name;
  std::string op;
  std::string path;
  std::vector<std::string>
      fused;  // the nodes that a fused one stands for; empty: it is no such one
  // Of a quantized network, the float32 nodes whose work it does (origins.h); empty: not noted.
  std::vector<std::string> stands_for;
  std::vector<Shape> input_shapes;  // present inputs, weights included
  std::vector<Shape> output_shapes;
  int64_t parameter_count = 0;
  std::optional<Cost> cost;  // absent: the operator has no cost rule
};

// Of the network's nodes: a fused one counts as those it stands for.
struct Coverage {
  int64_t node_count = 0;
  int64_t nodes_with_rule = 0;
  std::vector<std::string> unknown_ops;  // operator types without a rule, sorted, each once
};

struct ModelAnalysis {
  std::vector<LayerAnalysis> layers;
  Cost totals;  // of the layers that have a cost; see `coverage`
  ParameterCount parameters;
  int64_t activation_peak_bytes = 0;  // the most activations alive at once, scratch not counted
  int64_t tinytorch_flop_count = 0;   // see tinytorch_count.h
  Coverage coverage;
};

// OUT_OF_RANGE / "OVERFLOW" when a total passes 2^59.
Result<ModelAnalysis> Analyze(const Graph& graph);

}  // namespace tinyprof
