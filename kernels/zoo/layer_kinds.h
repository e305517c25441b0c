// The layers that a layer list may name: one table for each group, joined by FindLayerKind().
//
// Arguments and defaults are those of PyTorch. Dimension 0 is the batch everywhere, as in the
// course: sequence layers take batch x length x features unless batch_first=false.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/graph/graph_builder.h"
#include "kernels/zoo/layer_arguments.h"

namespace tinyprof {

// Bounds of the numbers that a layer takes; products of them are checked as shapes.
inline constexpr int64_t kMaxFeatures = int64_t{1} << 31;
inline constexpr int64_t kMaxSpatial = 1 << 20;

// What one layer is built from.
struct LayerContext {
  GraphBuilder& builder;
  LayerArguments& arguments;
  std::string name;  // its scope, "3.linear"
  ValueId x = kNoValue;

  const Shape& shape() const { return builder.type(x).shape; }
  // A first size or feature count, at least 1.
  int64_t Size(std::string_view argument, int64_t fallback = 1) const {
    return arguments.Int(argument, fallback, 1, kMaxFeatures);
  }
  // Makes the builder fail with "input <got>, wanted <wanted>".
  ValueId Mismatch(std::string_view got, std::string_view wanted) const;
  // Makes the builder fail unless the input has `rank` axes, called `layout` in the message.
  bool HasRank(size_t rank, std::string_view layout) const;
  // Makes the builder fail unless `axis` of the input is `wanted` long.
  bool HasDim(size_t axis, int64_t wanted, std::string_view what) const;
};

struct LayerKind {
  std::string_view name;
  std::vector<LayerParameter> parameters;
  // The layer's output. Errors stick to the arguments or to the builder.
  ValueId (*build)(LayerContext& context);
  bool variadic = false;  // positional numbers make one list: reshape(-1, 16)
};

std::span<const LayerKind> DenseLayerKinds();
std::span<const LayerKind> ActivationLayerKinds();
std::span<const LayerKind> SpatialLayerKinds();
std::span<const LayerKind> SequenceLayerKinds();

// The kind of that lower-case name, or null.
const LayerKind* FindLayerKind(std::string_view name);
std::vector<std::string> LayerKindNames();

}  // namespace tinyprof
