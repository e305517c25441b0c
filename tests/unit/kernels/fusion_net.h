// Networks for the tests of fusion, made node by node.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/graph/fusion.h"
#include "kernels/graph/graph_builder.h"

namespace tinyprof {

// A filter of fused nodes that takes all.
inline bool Always(const NodeSignature& /*fused*/) { return true; }

// Builds chains of nodes with names that tests can write down.
class Net {
 public:
  explicit Net(Shape input) : builder_("net", "layers") {
    x_ = builder_.Input("x", {DType::kFloat32, std::move(input)}, Fill::Uniform(1, 0));
  }

  ValueId x() const { return x_; }
  GraphBuilder& builder() { return builder_; }
  int64_t channels(ValueId id) const { return builder_.type(id).shape[1]; }

  ValueId Conv(ValueId x, int64_t channels, Attributes attributes = {}, bool bias = false) {
    const int64_t group = attributes.contains("group") ? std::get<int64_t>(attributes["group"]) : 1;
    const int64_t in = this->channels(x) / group;
    std::vector<int64_t> dims(builder_.type(x).shape.rank(), 3);
    dims[0] = channels;
    dims[1] = in;
    attributes["pads"] = std::vector<int64_t>(2 * (dims.size() - 2), 1);
    std::vector<ValueId> inputs = {
        x, builder_.Weight("w", Shape(dims), 1 / std::sqrt(9.0 * static_cast<double>(in)))};
    if (bias) inputs.push_back(builder_.Weight("b", {channels}, 0.5));
    return builder_.Op("Conv", inputs, std::move(attributes), "conv");
  }

  ValueId Norm(ValueId x) {
    const int64_t count = channels(x);
    std::vector<float> variance;
    for (int64_t c = 0; c < count; ++c) {
      variance.push_back(0.25F + 0.5F * static_cast<float>(c % 7));
    }
    return builder_.Op(
        "BatchNormalization",
        {x, builder_.Weight("scale", {count}, 2), builder_.Weight("shift", {count}, 1),
         builder_.Weight("mean", {count}, 1),
         builder_.Constant("variance", {DType::kFloat32, {count}}, Fill::Float32s(variance))},
        {{"epsilon", 1e-3F}}, "bn");
  }

  ValueId Number(float value) {
    return builder_.Constant("c", {DType::kFloat32, Shape()}, Fill::Float32s({value}));
  }

  // x * Clip(x + 3, 0, 6) / 6 as exporters write it.
  ValueId SpelledHardSwish(ValueId x) {
    const ValueId moved = builder_.Op("Add", {x, Number(3)}, {}, "add3");
    const ValueId clipped = builder_.Op("Clip", {moved, Number(0), Number(6)}, {}, "clip");
    const ValueId product = builder_.Op("Mul", {x, clipped}, {}, "mul");
    return builder_.Op("Div", {product, Number(6)}, {}, "div");
  }

  Graph Finish(const std::vector<ValueId>& outputs) {
    Result<Graph> graph = std::move(builder_).Finish(outputs);
    EXPECT_TRUE(graph.has_value()) << graph.error().message;
    return *std::move(graph);
  }

 private:
  GraphBuilder builder_;
  ValueId x_ = kNoValue;
};

// The names of the nodes that were made one.
inline std::vector<std::string> PartNames(const Node& node) {
  std::vector<std::string> names;
  if (node.fusion == nullptr) return names;
  for (const FusedPart& part : node.fusion->parts) names.push_back(part.node.name);
  return names;
}

}  // namespace tinyprof
