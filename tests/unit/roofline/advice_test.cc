#include "daemon/roofline/advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tinyprof {
namespace {

// 1000 GFLOP/s and 100 GB/s: ridge 10.
Ceilings Machine() {
  return {.peak_flops_per_second = 1e12, .levels = {{MemoryLevel::kDram, 1e11, std::nullopt}}};
}

std::vector<Advice> Advise(const LayerFacts& facts) {
  const BoundInput input{.flop_count = facts.flop_count,
                         .byte_count = facts.weight_bytes + facts.activation_bytes,
                         .caches_cold = true,
                         .elapsed_ns = facts.elapsed_ns};
  const Result<Bound> bound = ComputeBound(input, Machine());
  EXPECT_TRUE(bound.has_value());
  return AdviseLayer(facts, *bound, Machine());
}

// The speedup promised by advice of `kind`, or 0 when there is none.
double Speedup(const std::vector<Advice>& advice, AdviceKind kind) {
  const auto found =
      std::find_if(advice.begin(), advice.end(), [&](const Advice& a) { return a.kind == kind; });
  return found == advice.end() ? 0 : found->max_speedup;
}

// 80 MB of weights, 20 MB of activations, 200 MFLOP: 1 ms of memory, 0.2 ms of compute.
LayerFacts MemoryBound() {
  return {.flop_count = 200'000'000, .weight_bytes = 80'000'000, .activation_bytes = 20'000'000};
}
// 2 GFLOP, 10 MB: 2 ms of compute, 0.1 ms of memory.
LayerFacts ComputeBoundLayer() {
  return {.flop_count = 2'000'000'000, .weight_bytes = 8'000'000, .activation_bytes = 2'000'000};
}

TEST(AmdahlSpeedup, ByHand) {
  EXPECT_DOUBLE_EQ(AmdahlSpeedup(1, 4), 4);
  EXPECT_DOUBLE_EQ(AmdahlSpeedup(0, 4), 1);
  EXPECT_DOUBLE_EQ(AmdahlSpeedup(0.5, 2), 1 / 0.75);
}

TEST(AdviseLayer, QuantizeLeavesAQuarterOfTheWeights) {
  // (20 + 80 / 4) MB = 40 MB: 0.4 ms, 2.5 times less.
  EXPECT_NEAR(Speedup(Advise(MemoryBound()), AdviceKind::kQuantize), 2.5, 1e-9);
  LayerFacts int8 = MemoryBound();
  int8.weight_element_bytes = 1;
  EXPECT_EQ(Speedup(Advise(int8), AdviceKind::kQuantize), 0);
}

TEST(AdviseLayer, TheGainIsLimitedByWhatTheBoundExplains) {
  LayerFacts facts = MemoryBound();
  facts.elapsed_ns = 2'000'000;  // half of the time is explained
  // 1 / (0.5 + 0.5 / 2.5)
  EXPECT_NEAR(Speedup(Advise(facts), AdviceKind::kQuantize), 1 / 0.7, 1e-9);
  EXPECT_NEAR(Speedup(Advise(facts), AdviceKind::kKernel), 2, 1e-9);
}

TEST(AdviseLayer, FasterThanTheBoundDoesNotRaiseTheGain) {
  LayerFacts facts = MemoryBound();
  facts.elapsed_ns = 500'000;
  EXPECT_NEAR(Speedup(Advise(facts), AdviceKind::kQuantize), 2.5, 1e-9);
  EXPECT_EQ(Speedup(Advise(facts), AdviceKind::kKernel), 0);
}

TEST(AdviseLayer, BatchSharesTheWeights) {
  // Per sample max(0.2 ms of compute, 0.2 ms of activations): 5 times less.
  EXPECT_NEAR(Speedup(Advise(MemoryBound()), AdviceKind::kBatch), 5, 1e-9);
  LayerFacts activations = MemoryBound();
  std::swap(activations.weight_bytes, activations.activation_bytes);
  EXPECT_EQ(Speedup(Advise(activations), AdviceKind::kBatch), 0);
}

TEST(AdviseLayer, FuseSavesTheInput) {
  // An element-wise unary: half of its bytes are its input.
  const LayerFacts relu{.flop_count = 5'000'000,
                        .activation_bytes = 40'000'000,
                        .is_elementwise = true,
                        .fusable_input_bytes = 20'000'000};
  EXPECT_NEAR(Speedup(Advise(relu), AdviceKind::kFuse), 2, 1e-9);
  LayerFacts shared = relu;
  shared.fusable_input_bytes = 0;
  EXPECT_TRUE(Advise(shared).empty());
  LayerFacts other = relu;
  other.is_elementwise = false;
  EXPECT_TRUE(Advise(other).empty());
}

TEST(AdviseLayer, ComputeBoundFarFromThePeakWantsAnotherKernel) {
  LayerFacts facts = ComputeBoundLayer();
  facts.elapsed_ns = 20'000'000;
  const auto advice = Advise(facts);
  EXPECT_NEAR(Speedup(advice, AdviceKind::kKernel), 10, 1e-9);
  EXPECT_EQ(Speedup(advice, AdviceKind::kQuantize), 0);
  EXPECT_EQ(advice.front().kind, AdviceKind::kKernel);
  facts.elapsed_ns = 2'500'000;  // 80 %
  EXPECT_EQ(Speedup(Advise(facts), AdviceKind::kKernel), 0);
}

TEST(AdviseLayer, PruneHalvesFlopsAndWeights) {
  EXPECT_NEAR(Speedup(Advise(ComputeBoundLayer()), AdviceKind::kPrune), 2, 1e-9);
  // 40 + 20 MB instead of 100.
  EXPECT_NEAR(Speedup(Advise(MemoryBound()), AdviceKind::kPrune), 100.0 / 60, 1e-9);
}

TEST(AdviseLayer, KvCacheComputesOnePosition) {
  LayerFacts facts = ComputeBoundLayer();
  facts.recomputed_positions = 100;
  // Compute 0.02 ms; bytes 8 + 0.02 MB: 0.0802 ms.
  EXPECT_NEAR(Speedup(Advise(facts), AdviceKind::kKvCache), 2 / 0.0802, 1e-6);
  facts.recomputed_positions = 1;
  EXPECT_EQ(Speedup(Advise(facts), AdviceKind::kKvCache), 0);
}

TEST(AdviseLayer, ThreadsRaiseTheCeilingThatLimits) {
  LayerFacts facts = MemoryBound();
  facts.available_threads = 8;
  facts.all_threads =
      Ceilings{.peak_flops_per_second = 8e12, .levels = {{MemoryLevel::kDram, 2e11, std::nullopt}}};
  EXPECT_NEAR(Speedup(Advise(facts), AdviceKind::kThreads), 2, 1e-9);
  facts.threads = 8;
  EXPECT_EQ(Speedup(Advise(facts), AdviceKind::kThreads), 0);
}

TEST(AdviseLayer, OverheadWantsABatchAndNothingElse) {
  const LayerFacts tiny{.flop_count = 1000,
                        .weight_bytes = 400,
                        .activation_bytes = 100,
                        .recomputed_positions = 10,
                        .available_threads = 8,
                        .elapsed_ns = 500};
  const auto advice = Advise(tiny);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::kBatch);
  EXPECT_NEAR(advice[0].max_speedup, 100, 1e-9);  // the bound is 5 ns
}

TEST(AdviseLayer, NothingToDoGivesNoAdvice) { EXPECT_TRUE(Advise(LayerFacts{}).empty()); }

TEST(AdviseLayer, IsSortedFiniteAndWorthIt) {
  LayerFacts facts = MemoryBound();
  facts.elapsed_ns = 3'000'000;
  const auto advice = Advise(facts);
  ASSERT_GE(advice.size(), 3u);
  for (size_t i = 0; i < advice.size(); ++i) {
    EXPECT_TRUE(std::isfinite(advice[i].max_speedup));
    EXPECT_GE(advice[i].max_speedup, kMinSpeedup);
    EXPECT_FALSE(advice[i].why.empty());
    if (i > 0) {
      EXPECT_LE(advice[i].max_speedup, advice[i - 1].max_speedup);
    }
  }
}

}  // namespace
}  // namespace tinyprof
