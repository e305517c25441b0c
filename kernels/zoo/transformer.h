// Parts that BERT and the GPTs share.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/graph/graph_builder.h"

namespace tinyprof {

struct AttentionOptions {
  int64_t dim = 0;
  int64_t heads = 0;
  bool causal = false;
  bool fused_projection = false;  // one linear layer makes queries, keys and values
  bool bias = true;
  // Keys and values of earlier positions, [batch, earlier, dim]; kNoValue: there are none.
  ValueId past_key = kNoValue;
  ValueId past_value = kNoValue;
};

struct AttentionOutputs {
  ValueId output = kNoValue;  // [batch, length, dim]
  ValueId key = kNoValue;     // all keys, those of the past first
  ValueId value = kNoValue;
};

// Self-attention of x[batch, length, dim] with its input and output projections.
AttentionOutputs SelfAttention(GraphBuilder& builder, std::string_view name, ValueId x,
                               const AttentionOptions& options);

// linear, GELU, linear; four times as wide inside. `approximate` is "none" (erf) or "tanh".
ValueId FeedForward(GraphBuilder& builder, std::string_view name, ValueId x, int64_t dim,
                    std::string_view approximate);

// Rows [begin, begin + length) of a position table, [length, width].
ValueId Positions(GraphBuilder& builder, std::string_view name, int64_t table_length, int64_t width,
                  int64_t begin, int64_t length);

}  // namespace tinyprof
