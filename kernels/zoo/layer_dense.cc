// Linear layers, embeddings, norms and layers that only change the shape.
#include <fmt/format.h>

#include "kernels/zoo/layer_kinds.h"
#include "kernels/zoo/modules.h"

namespace tinyprof {
namespace {

constexpr int64_t kMaxRank = static_cast<int64_t>(kMaxListValues);

ValueId LinearLayer(LayerContext& context) {
  const LinearOptions options = {.in_features = context.Size("in_features"),
                                 .out_features = context.Size("out_features"),
                                 .bias = context.arguments.Bool("bias", true)};
  if (!context.builder.ok()) return kNoValue;
  const Shape& shape = context.shape();
  if (shape.rank() == 0) return context.Mismatch("is a scalar", "... x in_features");
  if (!context.HasDim(shape.rank() - 1, options.in_features, "features")) return kNoValue;
  return Linear(context.builder, context.name, context.x, options);
}

ValueId EmbeddingLayer(LayerContext& context) {
  const int64_t count = context.Size("num_embeddings");
  const int64_t width = context.Size("embedding_dim");
  if (context.builder.type(context.x).dtype != DType::kInt64) {
    return context.Mismatch("holds floats",
                            "token numbers: embedding must be the first layer of the list");
  }
  const ValueId table = EmbeddingTable(context.builder, context.name, count, width);
  return context.builder.Op("Gather", {table, context.x}, {{"axis", int64_t{0}}}, context.name);
}

ValueId BatchNormLayer(LayerContext& context) {
  const int64_t channels = context.Size("num_features");
  const double epsilon = context.arguments.Float("eps", 1e-5);
  const bool affine = context.arguments.Bool("affine", true);
  context.arguments.OnlyIf(context.arguments.Bool("track_running_stats", true),
                           "track_running_stats",
                           "true: inference normalizes by stored statistics");
  if (!context.HasDim(1, channels, "channels")) return kNoValue;
  return BatchNorm(context.builder, context.name, context.x, channels, epsilon, 1, affine);
}

ValueId BatchNorm1dLayer(LayerContext& context) {
  if (context.shape().rank() != 2 && !context.HasRank(3, "N x C or N x C x L")) return kNoValue;
  return BatchNormLayer(context);
}

ValueId BatchNorm2dLayer(LayerContext& context) {
  return context.HasRank(4, "N x C x H x W") ? BatchNormLayer(context) : kNoValue;
}

ValueId LayerNormLayer(LayerContext& context) {
  const std::vector<int64_t> dims = context.arguments.List("normalized_shape", 1, kMaxFeatures);
  const double epsilon = context.arguments.Float("eps", 1e-5);
  const bool affine = context.arguments.Bool("elementwise_affine", true);
  if (!context.builder.ok()) return kNoValue;
  const Shape& shape = context.shape();
  bool fits = dims.size() <= shape.rank();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    fits = shape.back(i) == dims[dims.size() - 1 - i];
  }
  if (!fits) {
    return context.Mismatch(fmt::format("is {}", shape.ToString()),
                            fmt::format("... x {}", Shape(dims).ToString()));
  }
  return LayerNorm(context.builder, context.name, context.x, dims, epsilon, affine);
}

// The axis that a PyTorch index names; false after making the builder fail.
bool ToAxis(const LayerContext& context, int64_t index, int64_t& axis) {
  const auto rank = static_cast<int64_t>(context.shape().rank());
  axis = index < 0 ? index + rank : index;
  if (axis >= 0 && axis < rank) return true;
  context.Mismatch(fmt::format("is {}", context.shape().ToString()),
                   fmt::format("an axis {}", index));
  return false;
}

ValueId FlattenLayer(LayerContext& context) {
  const int64_t start = context.arguments.Int("start_dim", 1, -kMaxRank, kMaxRank);
  const int64_t end = context.arguments.Int("end_dim", -1, -kMaxRank, kMaxRank);
  if (!context.builder.ok()) return kNoValue;
  int64_t first = 0;
  int64_t last = 0;
  if (!ToAxis(context, start, first) || !ToAxis(context, end, last)) return kNoValue;
  const std::vector<int64_t>& dims = context.shape().dims();
  if (first == 1 && last + 1 == static_cast<int64_t>(dims.size())) {
    return context.builder.Op("Flatten", {context.x}, {{"axis", int64_t{1}}}, context.name);
  }
  if (first > last) {
    return context.Mismatch(fmt::format("is to be flattened from axis {} to {}", first, last),
                            "a first axis that is not after the last");
  }
  std::vector<int64_t> flat(dims.begin(), dims.begin() + first);
  int64_t product = 1;
  for (int64_t i = first; i <= last; ++i) product *= dims[static_cast<size_t>(i)];
  flat.push_back(product);
  flat.insert(flat.end(), dims.begin() + last + 1, dims.end());
  return Reshape(context.builder, context.name, context.x, flat);
}

ValueId ReshapeLayer(LayerContext& context) {
  const std::vector<int64_t> dims = context.arguments.List("shape", -1, kMaxFeatures);
  for (const int64_t dim : dims) {
    if (dim == 0) return context.Mismatch("is to get a dimension 0", "-1 or at least 1");
  }
  return Reshape(context.builder, context.name, context.x, dims);
}

ValueId IdentityLayer(LayerContext& context) {
  return context.builder.Op("Identity", {context.x}, {}, context.name);
}

ValueId DropoutLayer(LayerContext& context) {
  const double p = context.arguments.Float("p", 0.5);
  context.arguments.OnlyIf(p >= 0 && p <= 1, "p", "a probability from 0 to 1");
  return context.builder.Op("Dropout", {context.x}, {}, context.name);
}

}  // namespace

std::span<const LayerKind> DenseLayerKinds() {
  static const std::vector<LayerParameter> norm = {
      {"num_features", true}, {"eps"}, {"momentum"}, {"affine"}, {"track_running_stats"}};
  static const std::vector<LayerKind> kinds = {
      {"linear", {{"in_features", true}, {"out_features", true}, {"bias"}}, &LinearLayer},
      {"embedding", {{"num_embeddings", true}, {"embedding_dim", true}}, &EmbeddingLayer},
      {"batchnorm1d", norm, &BatchNorm1dLayer},
      {"batchnorm2d", norm, &BatchNorm2dLayer},
      {"layernorm", {{"normalized_shape", true}, {"eps"}, {"elementwise_affine"}}, &LayerNormLayer},
      {"flatten", {{"start_dim"}, {"end_dim"}}, &FlattenLayer},
      {"reshape", {{"shape", true}}, &ReshapeLayer, true},
      {"identity", {}, &IdentityLayer},
      {"dropout", {{"p"}, {"inplace"}}, &DropoutLayer},
  };
  return kinds;
}

}  // namespace tinyprof
