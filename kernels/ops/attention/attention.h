// Scaled dot-product attention with the semantics of ONNX Attention (opset 23), for the parts that
// networks use: softmax(scale * Q K^T + mask) V for each batch and head.
//
// Inputs Q, K, V, and an optional float mask that is broadcast to [batch, heads, queries, keys]. Q
// is [batch, heads, queries, depth] or, with attributes q_num_heads and kv_num_heads, [batch,
// queries, heads * depth]; K and V likewise. A key-value head may serve several query heads.
// Queries and keys may differ in number; with is_causal query i sees keys 0 to i, as ONNX aligns
// the triangle (upper left), whatever the numbers are. A decode step, whose one query sees all
// keys, is not causal.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/graph/graph.h"

namespace tinyprof {

// Where head h of batch b has its rows: base + b * batch + h * head, `row` elements apart.
struct HeadLayout {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;
};

struct AttentionDims {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t depth = 0;        // of a query and a key
  int64_t value_depth = 0;  // of a value and an output
  HeadLayout q, k, v, y;
  // Elements between two neighbours of the mask by [batch, head, query, key]; 0 where it is
  // repeated.
  std::array<int64_t, 4> mask_strides{};
  bool is_causal = false;
  float scale = 1;

  int64_t head_count() const { return batch * heads; }
  // Keys that query i may see.
  int64_t visible_keys(int64_t query) const { return is_causal ? std::min(query + 1, keys) : keys; }
  int64_t q_offset(int64_t b, int64_t h) const { return b * q.batch + h * q.head; }
  int64_t k_offset(int64_t b, int64_t h) const { return b * k.batch + KvHead(h) * k.head; }
  int64_t v_offset(int64_t b, int64_t h) const { return b * v.batch + KvHead(h) * v.head; }
  int64_t y_offset(int64_t b, int64_t h) const { return b * y.batch + h * y.head; }
  int64_t mask_offset(int64_t b, int64_t h, int64_t query) const {
    return b * mask_strides[0] + h * mask_strides[1] + query * mask_strides[2];
  }

 private:
  int64_t KvHead(int64_t h) const { return h / (heads / kv_heads); }
};

// The signature has passed the type rule.
AttentionDims AttentionDimsOf(const NodeSignature& signature);

}  // namespace tinyprof
