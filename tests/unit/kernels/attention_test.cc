#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/ops/attention/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void CountedAttention(const NodeSignature& signature, const KernelArgs& args) {
  const AttentionDims dims = AttentionDimsOf(signature);
  std::vector<Counted> scores(static_cast<size_t>(dims.keys));
  AttentionLoop(dims, args, scores.data());
}

struct Sizes {
  int64_t batch, heads, kv_heads, queries, keys, depth, value_depth;
};

OpCase Attention(const Sizes& s, bool is_causal = false) {
  return {.op_type = "Attention",
          .attributes = {{"is_causal", int64_t{is_causal}}},
          .inputs = {Activation({s.batch, s.heads, s.queries, s.depth}),
                     Activation({s.batch, s.kv_heads, s.keys, s.depth}),
                     Activation({s.batch, s.kv_heads, s.keys, s.value_depth})}};
}

OpCase PackedAttention(const Sizes& s, bool is_causal = false) {
  OpCase op_case = Attention(s, is_causal);
  op_case.attributes["q_num_heads"] = s.heads;
  op_case.attributes["kv_num_heads"] = s.kv_heads;
  op_case.inputs[0] = Activation({s.batch, s.queries, s.heads * s.depth});
  op_case.inputs[1] = Activation({s.batch, s.keys, s.kv_heads * s.depth});
  op_case.inputs[2] = Activation({s.batch, s.keys, s.kv_heads * s.value_depth});
  return op_case;
}

const std::vector<Sizes>& AllSizes() {
  static const std::vector<Sizes> kSizes = {
      {1, 1, 1, 1, 1, 1, 1},     {2, 3, 3, 7, 7, 17, 17},   {1, 4, 2, 3, 37, 8, 16},
      {1, 2, 1, 1, 100, 64, 64}, {1, 2, 2, 100, 100, 7, 3}, {2, 2, 2, 64, 65, 32, 32},
      {0, 2, 2, 3, 3, 4, 4},     {1, 2, 2, 0, 3, 4, 4},     {1, 12, 12, 130, 130, 64, 64}};
  return kSizes;
}

TEST(Attention, AgreesInBothLayoutsWithAndWithoutCausalMask) {
  for (const Sizes& sizes : AllSizes()) {
    for (const bool is_causal : {false, true}) {
      CheckOp(Attention(sizes, is_causal));
      CheckOp(PackedAttention(sizes, is_causal));
    }
  }
}

TEST(Attention, CostIsWhatTheLoopExecutes) {
  for (const Sizes& sizes : AllSizes()) {
    for (const bool is_causal : {false, true}) {
      CheckCounts(Attention(sizes, is_causal), &CountedAttention);
    }
  }
}

TEST(Attention, MasksAreBroadcast) {
  const Sizes sizes{2, 3, 3, 7, 17, 8, 8};
  for (const Shape& mask : {Shape{7, 17}, Shape{1, 17}, Shape{17}, Shape{7, 1}, Shape{2, 1, 1, 17},
                            Shape{2, 3, 7, 17}, Shape{}}) {
    SCOPED_TRACE(mask.ToString());
    OpCase op_case = Attention(sizes);
    op_case.inputs.push_back(Activation(mask, 4));
    CheckOp(op_case);
    CheckCounts(op_case, &CountedAttention);
  }
}

TEST(Attention, ScaleIsAnAttribute) {
  OpCase op_case = Attention({1, 2, 2, 3, 5, 16, 16});
  op_case.attributes["scale"] = 2.0F;
  CheckOp(op_case);
}

TEST(Attention, FactsOfTheConvention) {
  // Both matrix products of (1, 12, 64, 64): 12,582,912 FLOPs.
  EXPECT_EQ(2 * CostOfCase(Attention({1, 12, 12, 64, 64, 64, 64})).flops.mac, 12582912);
  // One layer of GPT-2 small, S = 128: the causal triangle. 12 layers: 152,174,592.
  const Cost causal = CostOfCase(Attention({1, 12, 12, 128, 128, 64, 64}, true));
  EXPECT_EQ(causal.valid_tap_mac_count, 12681216);
  EXPECT_EQ(12 * causal.valid_tap_mac_count, 152174592);
  EXPECT_EQ(causal.flops.mac, 12 * 128 * 128 * 128);
  // Decoding: the only query sees the whole context.
  const Cost decode = CostOfCase(Attention({1, 12, 12, 1, 1000, 64, 64}));
  EXPECT_EQ(decode.flops.mac, 12 * 1000 * 128);
  EXPECT_EQ(decode.valid_tap_mac_count, decode.flops.mac);
}

TEST(Attention, SoftmaxScaleAndMaskAreCounted) {
  OpCase op_case = Attention({1, 2, 2, 3, 5, 4, 4});
  op_case.inputs.push_back(Activation({3, 5}));
  const FlopClasses flops = CostOfCase(op_case).flops;
  EXPECT_EQ(flops.mac, 2 * 3 * 5 * 8);
  EXPECT_EQ(flops.add_mul_div, 30 + 30 + 2 * 30);  // scale, mask, subtract and divide
  EXPECT_EQ(flops.minmax, 6 * 4);
  EXPECT_EQ(flops.transcendental, 30);
  EXPECT_EQ(flops.reduction, 6 * 4);
}

// With equal keys every visible value weighs the same.
TEST(Attention, CausalQueriesAverageWhatTheySee) {
  const OpCase op_case{.op_type = "Attention",
                       .attributes = {{"is_causal", int64_t{1}}},
                       .inputs = {FloatsOf({1, 1, 2, 1}, {1, 1}), FloatsOf({1, 1, 3, 1}, {2, 2, 2}),
                                  FloatsOf({1, 1, 3, 1}, {3, 5, 13})}};
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(DoubleNear(3, 1e-12), DoubleNear(4, 1e-12)));
}

// ONNX aligns the causal triangle at the upper left: 1 + 2 + 3 + 4 + 5 + 5 pairs in each of 2
// heads.
TEST(Attention, CausalTriangleIsAlignedAtTheUpperLeft) {
  const OpCase more_queries = Attention({1, 2, 2, 6, 5, 4, 4}, true);
  CheckOp(more_queries);
  EXPECT_EQ(CostOfCase(more_queries).valid_tap_mac_count, 2 * 20 * (4 + 4));
}

TEST(Attention, RefusesOperandsThatDoNotFit) {
  const auto message = [](OpCase op_case) { return RefusalOf(op_case).message; };
  OpCase keys = Attention({1, 2, 2, 3, 5, 4, 4});
  keys.inputs[2] = Activation({1, 2, 6, 4});
  EXPECT_THAT(message(keys), HasSubstr("do not fit"));
  EXPECT_THAT(message(Attention({1, 3, 2, 3, 5, 4, 4})), HasSubstr("3 query heads"));
  EXPECT_THAT(message(Attention({1, 2, 2, 3, 0, 4, 4})), HasSubstr("no keys"));
  OpCase mask = Attention({1, 2, 2, 3, 5, 4, 4});
  mask.inputs.push_back(Activation({3, 4}));
  EXPECT_THAT(message(mask), HasSubstr("mask 3x4"));
  OpCase heads = PackedAttention({1, 2, 2, 3, 5, 4, 4});
  heads.attributes["q_num_heads"] = int64_t{3};
  EXPECT_THAT(message(heads), HasSubstr("8 wide"));
  heads.attributes.erase("q_num_heads");
  EXPECT_THAT(message(heads), HasSubstr("q_num_heads is 0"));
  OpCase softcap = Attention({1, 2, 2, 3, 5, 4, 4});
  softcap.attributes["softcap"] = 30.0F;
  EXPECT_EQ(RefusalOf(softcap).code, ErrorCode::kUnimplemented);
  const int64_t large = int64_t{1} << 21;
  EXPECT_THAT(message(Attention({1, 1, 1, large, large, 1, 1})), HasSubstr("more than 2^40"));
}

}  // namespace
}  // namespace tinyprof
