// The building blocks that the zoo and the layer list share, as calls on a GraphBuilder.
//
// Each takes a name that becomes the scope of its node and weights, and returns the node's output.
// After an error of the builder they do nothing. Weights are scaled so that a signal of unit
// variance keeps about that variance (He et al., 2015: uniform within sqrt(3 * gain / fan_in)).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/graph/graph_builder.h"

namespace tinyprof {

// Pushes a scope for as long as it lives.
class ModuleScope {
 public:
  ModuleScope(GraphBuilder& builder, std::string_view name) : builder_(builder) {
    builder_.PushScope(name);
  }
  ~ModuleScope() { builder_.PopScope(); }
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  GraphBuilder& builder_;
};

// The squared gain of what follows a weight: 2 before a ReLU, which halves the power of a signal.
inline constexpr double kLinearGain = 1;
inline constexpr double kReluGain = 2;

// An input of that shape; the builder fails if it is too large. Floats are uniform in [-1, 1).
ValueId FloatInput(GraphBuilder& builder, std::string_view name, std::vector<int64_t> dims);
// Integers in [0, limit).
ValueId TokenInput(GraphBuilder& builder, std::string_view name, std::vector<int64_t> dims,
                   int64_t limit);

// A weight of that shape whose `fan_in` inputs are summed up.
ValueId ScaledWeight(GraphBuilder& builder, std::string_view name, std::vector<int64_t> dims,
                     int64_t fan_in, double gain = kLinearGain);
// A parameter whose elements are all `value`.
ValueId FilledParameter(GraphBuilder& builder, std::string_view name, std::vector<int64_t> dims,
                        double value);

struct LinearOptions {
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool bias = true;
  double gain = kLinearGain;
};
// x[..., in] -> [..., out]: Gemm on a matrix, MatMul + Add otherwise.
ValueId Linear(GraphBuilder& builder, std::string_view name, ValueId x,
               const LinearOptions& options);

// Spatial vectors have one element for each spatial axis.
struct ConvOptions {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride;
  std::vector<int64_t> pads;  // begins, then ends
  std::vector<int64_t> dilation;
  std::vector<int64_t> output_padding = {};  // transposed only
  int64_t groups = 1;
  bool bias = true;
  bool transposed = false;
  double gain = kLinearGain;
};
// A square kernel on two axes, padded alike on all sides.
ConvOptions SquareConv(int64_t in_channels, int64_t out_channels, int64_t kernel,
                       int64_t stride = 1, int64_t padding = 0);
ValueId Conv(GraphBuilder& builder, std::string_view name, ValueId x, const ConvOptions& options);

// Inference: running mean 0 and variance 1, which are no parameters. `scale` fills the scale.
ValueId BatchNorm(GraphBuilder& builder, std::string_view name, ValueId x, int64_t channels,
                  double epsilon = 1e-5, double scale = 1, bool affine = true);
// Over the last `dims.size()` axes.
ValueId LayerNorm(GraphBuilder& builder, std::string_view name, ValueId x,
                  const std::vector<int64_t>& dims, double epsilon = 1e-5, bool affine = true);

ValueId MaxPool2d(GraphBuilder& builder, std::string_view name, ValueId x, int64_t kernel,
                  int64_t stride, int64_t padding = 0);
// The mean over out_height x out_width equal windows; "SHAPE_MISMATCH" unless they tile the input.
ValueId AdaptiveAvgPool2d(GraphBuilder& builder, std::string_view name, ValueId x,
                          int64_t out_height, int64_t out_width);

// Rows of a table of `count` vectors.
ValueId EmbeddingTable(GraphBuilder& builder, std::string_view name, int64_t count, int64_t width);
ValueId Reshape(GraphBuilder& builder, std::string_view name, ValueId x,
                const std::vector<int64_t>& dims);

}  // namespace tinyprof
