// Weights as int8, with a scale for each output channel.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kernels/quantization/graph_edit.h"

namespace tinyprof {

// How a weight's elements belong to output channels: element i to i / run % channels.
struct WeightLayout {
  int64_t channels = 1;
  int64_t run = 1;

  // M x C/groups x kernel of a Conv; K x N of a MatMul.
  static WeightLayout OfConv(const Shape& shape);
  static WeightLayout OfMatmul(const Shape& shape);
};

// For each channel the largest magnitude / 127 (WeightScaleOf), at least `floors[channel]`, so that
// a bias of that many steps fits int32; 1 for a channel of zeros whose floor is 0. `floors` may be
// empty: all 0.
std::vector<float> ChannelScales(const std::vector<float>& weights, const WeightLayout& layout,
                                 const std::vector<float>& floors);

// Adds quantized weights to a graph, each once however many nodes use it with the same scales.
class WeightQuantizer {
 public:
  // Both outlive this.
  WeightQuantizer(const Graph& graph, GraphEdit& edit) : graph_(graph), edit_(edit) {}

  struct Quantized {
    ValueId weight;      // int8, of the float weight's shape
    ValueId scale;       // float32, one for each channel
    ValueId zero_point;  // int8 zeros, one for each channel
    std::vector<float> scales;
  };
  Quantized Quantize(ValueId weight, const WeightLayout& layout, const std::vector<float>& floors);

 private:
  ValueId ZeroPoints(int64_t channels);

  const Graph& graph_;
  GraphEdit& edit_;
  std::map<std::pair<ValueId, std::vector<float>>, Quantized> quantized_;
  std::map<int64_t, ValueId> zero_points_;
};

}  // namespace tinyprof
