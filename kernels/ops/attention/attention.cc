#include "kernels/ops/attention/attention.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "kernels/ops/attention/cost.h"
#include "kernels/ops/attention/reference.h"
#include "kernels/ops/checks.h"
#include "kernels/ops/families.h"

namespace tinyprof {
namespace {

// One of Q, K, V as [batch, heads, rows, depth].
struct Operand {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t depth = 0;
  HeadLayout layout;
};

bool IsPacked(const NodeSignature& signature) { return signature.input(0).shape.rank() == 3; }

Operand Packed(int64_t batch, int64_t rows, int64_t heads, int64_t depth) {
  const int64_t width = heads * depth;
  return {batch, heads, rows, depth, {.batch = rows * width, .head = depth, .row = width}};
}

Operand Separate(int64_t batch, int64_t heads, int64_t rows, int64_t depth) {
  return {batch,
          heads,
          rows,
          depth,
          {.batch = heads * rows * depth, .head = rows * depth, .row = depth}};
}

// Input `index`; the head count of a packed one is an attribute, which has been checked.
Operand OperandOf(const NodeSignature& signature, size_t index) {
  const Shape& shape = signature.input(index).shape;
  if (!IsPacked(signature)) return Separate(shape[0], shape[1], shape[2], shape[3]);
  const int64_t heads = signature.Int(index == 0 ? "q_num_heads" : "kv_num_heads", 1);
  return Packed(shape[0], shape[1], heads, shape[2] / heads);
}

Status CheckHeads(const NodeSignature& signature, size_t index, std::string_view attribute) {
  const int64_t heads = signature.Int(attribute, 0);
  if (heads < 1) {
    return BadAttribute(signature, fmt::format("{} is {}, wanted at least 1 for inputs with 3 "
                                               "dimensions",
                                               attribute, heads));
  }
  const int64_t width = signature.input(index).shape[2];
  if (width % heads == 0) return {};
  return ShapeMismatch(signature, fmt::format("input {} is {} wide, wanted a multiple of its {} "
                                              "heads",
                                              index, width, heads));
}

Status CheckUnsupported(const NodeSignature& signature) {
  const auto refuse = [](std::string_view what) {
    return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
                fmt::format("Attention with {} is not supported", what));
  };
  if (signature.has_input(4) || signature.has_input(5)) return refuse("past keys and values");
  if (signature.Float("softcap", 0) != 0) return refuse("softcap");
  if (signature.has_input(3) && signature.input(3).dtype == DType::kBool) {
    return refuse("a bool mask: make it a float mask of 0 and -inf");
  }
  return {};
}

Status CheckOperands(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 3, 4));
  const size_t rank = signature.input(0).shape.rank();
  for (const size_t index : {size_t{1}, size_t{2}}) {
    TINYPROF_RETURN_IF_ERROR(CheckRank(signature, index, rank, rank));
  }
  if (!IsPacked(signature)) return {};
  TINYPROF_RETURN_IF_ERROR(CheckHeads(signature, 0, "q_num_heads"));
  TINYPROF_RETURN_IF_ERROR(CheckHeads(signature, 1, "kv_num_heads"));
  return CheckHeads(signature, 2, "kv_num_heads");
}

Status CheckTogether(const NodeSignature& signature, const Operand& q, const Operand& k,
                     const Operand& v) {
  if (k.batch != q.batch || v.batch != q.batch || k.rows != v.rows || k.heads != v.heads ||
      k.depth != q.depth) {
    return ShapeMismatch(
        signature,
        fmt::format("Q {}, K {} and V {} do not fit: wanted one batch, as many keys as "
                    "values, and keys as deep as queries",
                    signature.input(0).shape.ToString(), signature.input(1).shape.ToString(),
                    signature.input(2).shape.ToString()));
  }
  if (k.heads == 0 || q.heads % k.heads != 0) {
    return ShapeMismatch(
        signature, fmt::format("{} query heads cannot share {} key-value heads", q.heads, k.heads));
  }
  if (k.rows == 0 || q.depth == 0) {
    return ShapeMismatch(signature,
                         fmt::format("K {} holds no keys", signature.input(1).shape.ToString()));
  }
  return {};
}

Status CheckMask(const NodeSignature& signature, const Shape& scores) {
  if (!signature.has_input(3)) return {};
  const Shape& mask = signature.input(3).shape;
  const Result<Shape> joined = Broadcast(scores, mask);
  if (joined && *joined == scores) return {};
  return ShapeMismatch(signature, fmt::format("mask {} cannot be broadcast to the scores {}",
                                              mask.ToString(), scores.ToString()));
}

Result<std::vector<TensorType>> InferAttention(const NodeSignature& signature,
                                               size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckUnsupported(signature));
  TINYPROF_RETURN_IF_ERROR(CheckOperands(signature));
  const Operand q = OperandOf(signature, 0);
  const Operand k = OperandOf(signature, 1);
  const Operand v = OperandOf(signature, 2);
  TINYPROF_RETURN_IF_ERROR(CheckTogether(signature, q, k, v));
  Result<Shape> scores = Shape::Create({q.batch, q.heads, q.rows, k.rows});
  if (!scores) return ShapeMismatch(signature, scores.error().message);
  TINYPROF_RETURN_IF_ERROR(CheckMask(signature, *scores));
  Result<Shape> shape = IsPacked(signature) ? Shape::Create({q.batch, q.rows, q.heads * v.depth})
                                            : Shape::Create({q.batch, q.heads, q.rows, v.depth});
  if (!shape) return ShapeMismatch(signature, shape.error().message);
  return std::vector<TensorType>{{signature.input(0).dtype, *std::move(shape)}};
}

std::array<int64_t, 4> MaskStridesOf(const NodeSignature& signature) {
  std::array<int64_t, 4> strides{};
  if (!signature.has_input(3)) return strides;
  const Shape& mask = signature.input(3).shape;
  for (size_t d = 0; d < mask.rank(); ++d) {
    strides[4 - mask.rank() + d] = mask[d] == 1 ? 0 : mask.stride(d);
  }
  return strides;
}

constexpr std::array kOperators = {
    Operator{"Attention", 3, 6, &InferAttention, &AttentionCost, &MakeAttentionReference<float>,
             &MakeAttentionReference<double>},
};

}  // namespace

AttentionDims AttentionDimsOf(const NodeSignature& signature) {
  const Operand q = OperandOf(signature, 0);
  const Operand k = OperandOf(signature, 1);
  const Operand v = OperandOf(signature, 2);
  const Operand y = IsPacked(signature) ? Packed(q.batch, q.rows, q.heads, v.depth)
                                        : Separate(q.batch, q.heads, q.rows, v.depth);
  const auto default_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(q.depth)));
  return {.batch = q.batch,
          .heads = q.heads,
          .kv_heads = k.heads,
          .queries = q.rows,
          .keys = k.rows,
          .depth = q.depth,
          .value_depth = v.depth,
          .q = q.layout,
          .k = k.layout,
          .v = v.layout,
          .y = y.layout,
          .mask_strides = MaskStridesOf(signature),
          .is_causal = signature.Int("is_causal", 0) != 0,
          .scale = signature.Float("scale", default_scale)};
}

std::span<const Operator> AttentionOperators() { return kOperators; }

}  // namespace tinyprof
