#include "kernels/zoo/transformer.h"

#include <numeric>
#include <string>

#include "kernels/zoo/modules.h"

namespace tinyprof {
namespace {

std::vector<ValueId> Projections(GraphBuilder& builder, ValueId x,
                                 const AttentionOptions& options) {
  const int64_t dim = options.dim;
  if (options.fused_projection) {
    const ValueId joined = Linear(
        builder, "qkv", x, {.in_features = dim, .out_features = 3 * dim, .bias = options.bias});
    const ValueId sizes = builder.ConstantInts("split.sizes", {dim, dim, dim});
    return builder.MultiOp("Split", {joined, sizes}, 3, {{"axis", int64_t{2}}}, "split");
  }
  std::vector<ValueId> projections;
  for (const char* name : {"query", "key", "value"}) {
    projections.push_back(
        Linear(builder, name, x, {.in_features = dim, .out_features = dim, .bias = options.bias}));
  }
  return projections;
}

ValueId AfterPast(GraphBuilder& builder, const char* name, ValueId past, ValueId current) {
  if (past == kNoValue) return current;
  return builder.Op("Concat", {past, current}, {{"axis", int64_t{1}}}, name);
}

}  // namespace

AttentionOutputs SelfAttention(GraphBuilder& builder, std::string_view name, ValueId x,
                               const AttentionOptions& options) {
  const ModuleScope scope(builder, name);
  const std::vector<ValueId> projections = Projections(builder, x, options);
  AttentionOutputs result;
  result.key = AfterPast(builder, "key_cache", options.past_key, projections[1]);
  result.value = AfterPast(builder, "value_cache", options.past_value, projections[2]);
  Attributes attributes = {{"q_num_heads", options.heads}, {"kv_num_heads", options.heads}};
  if (options.causal) attributes["is_causal"] = int64_t{1};
  x = builder.Op("Attention", {projections[0], result.key, result.value}, std::move(attributes),
                 "attention");
  result.output =
      Linear(builder, "proj", x,
             {.in_features = options.dim, .out_features = options.dim, .bias = options.bias});
  return result;
}

ValueId FeedForward(GraphBuilder& builder, std::string_view name, ValueId x, int64_t dim,
                    std::string_view approximate) {
  const ModuleScope scope(builder, name);
  x = Linear(builder, "fc", x, {.in_features = dim, .out_features = 4 * dim, .gain = kReluGain});
  x = builder.Op("Gelu", {x}, {{"approximate", std::string(approximate)}}, "gelu");
  return Linear(builder, "proj", x, {.in_features = 4 * dim, .out_features = dim});
}

ValueId Positions(GraphBuilder& builder, std::string_view name, int64_t table_length, int64_t width,
                  int64_t begin, int64_t length) {
  const ValueId table = EmbeddingTable(builder, name, table_length, width);
  std::vector<int64_t> ids(static_cast<size_t>(length));
  std::iota(ids.begin(), ids.end(), begin);
  const ValueId indices = builder.ConstantInts(std::string(name) + ".ids", ids);
  return builder.Op("Gather", {table, indices}, {{"axis", int64_t{0}}}, name);
}

}  // namespace tinyprof
