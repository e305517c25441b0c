// BERT base, uncased vocabulary (Devlin et al., 2018): post-norm encoder, erf GELU, pooler.
#include <fmt/format.h>

#include "kernels/zoo/modules.h"
#include "kernels/zoo/transformer.h"
#include "kernels/zoo/zoo_models.h"

namespace tinyprof {
namespace {

constexpr int64_t kDim = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kLayers = 12;
constexpr int64_t kVocabulary = 30522;
constexpr int64_t kPositions = 512;
constexpr int64_t kSegments = 2;
constexpr double kEpsilon = 1e-12;

ValueId Embeddings(GraphBuilder& builder, ValueId tokens, ValueId segments, int64_t length) {
  const ModuleScope scope(builder, "embeddings");
  const ValueId words = EmbeddingTable(builder, "word", kVocabulary, kDim);
  const ValueId types = EmbeddingTable(builder, "token_type", kSegments, kDim);
  const Attributes rows = {{"axis", int64_t{0}}};
  ValueId x = builder.Op("Gather", {words, tokens}, rows, "word");
  x = builder.Op("Add", {x, builder.Op("Gather", {types, segments}, rows, "token_type")}, {},
                 "add_token_type");
  x = builder.Op("Add", {x, Positions(builder, "position", kPositions, kDim, 0, length)}, {},
                 "add_position");
  return LayerNorm(builder, "norm", x, {kDim}, kEpsilon);
}

ValueId EncoderLayer(GraphBuilder& builder, const std::string& name, ValueId x) {
  const ModuleScope scope(builder, name);
  const ValueId attended =
      SelfAttention(builder, "attention", x, {.dim = kDim, .heads = kHeads}).output;
  x = builder.Op("Add", {attended, x}, {}, "add1");
  x = LayerNorm(builder, "norm1", x, {kDim}, kEpsilon);
  const ValueId fed = FeedForward(builder, "mlp", x, kDim, "none");
  x = builder.Op("Add", {fed, x}, {}, "add2");
  return LayerNorm(builder, "norm2", x, {kDim}, kEpsilon);
}

// Tanh of a linear layer on the first token.
ValueId Pooler(GraphBuilder& builder, ValueId x) {
  const ModuleScope scope(builder, "pooler");
  const ValueId first =
      builder.Constant("first.index", {DType::kInt64, Shape{}}, Fill::Int64s({0}));
  x = builder.Op("Gather", {x, first}, {{"axis", int64_t{1}}}, "first");
  x = Linear(builder, "dense", x, {.in_features = kDim, .out_features = kDim});
  return builder.Op("Tanh", {x}, {}, "tanh");
}

}  // namespace

Result<Graph> BuildBertBase(const ZooRequest& request) {
  TINYPROF_ASSIGN_OR_RETURN(const int64_t length, request.parameters.Int("seq", 1, kPositions));
  GraphBuilder builder(request.name, "zoo", request.seed);
  const ValueId tokens = TokenInput(builder, "input_ids", {request.batch, length}, kVocabulary);
  const ValueId segments =
      TokenInput(builder, "token_type_ids", {request.batch, length}, kSegments);
  ValueId x = Embeddings(builder, tokens, segments, length);
  for (int64_t i = 0; i < kLayers; ++i) {
    x = EncoderLayer(builder, fmt::format("encoder.{}", i), x);
  }
  const ValueId pooled = Pooler(builder, x);
  return std::move(builder).Finish({x, pooled});
}

}  // namespace tinyprof
