#include "daemon/roofline/advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace tinyprof {
namespace {

// 1000 GFLOP/s and 100 GB/s: ridge 10.
Ceilings Machine() {
  return {.peak_flops_per_second = 1e12, .levels = {{MemoryLevel::kDram, 1e11, std::nullopt}}};
}

std::vector<Advice> Advise(const LayerFacts& facts) {
  const BoundInput input{
      .flop_count = facts.flop_count,
      .byte_count = facts.weight_bytes + facts.activation_bytes,
      .cold_bytes = facts.weight_bytes + facts.activation_bytes,
      .elapsed_ns = facts.time ? std::optional(facts.time->low_ns / 2 + facts.time->high_ns / 2)
                               : std::nullopt,
      .dispatch_ns = facts.dispatch_ns};
  const Result<Bound> bound = ComputeBound(input, Machine());
  EXPECT_TRUE(bound.has_value());
  return AdviseLayer(facts, *bound, Machine());
}

Advice Find(const std::vector<Advice>& advice, AdviceKind kind) {
  const auto found =
      std::find_if(advice.begin(), advice.end(), [&](const Advice& a) { return a.kind == kind; });
  return found == advice.end() ? Advice{.kind = kind, .max_speedup = 0} : *found;
}
// The speedup told by advice of `kind`, of a kernel its limit; 0 when there is none.
double Speedup(const std::vector<Advice>& advice, AdviceKind kind) {
  const Advice found = Find(advice, kind);
  return found.speedup.value_or(found.max_speedup);
}
double Limit(const std::vector<Advice>& advice, AdviceKind kind) {
  return Find(advice, kind).max_speedup;
}

// 80 MB of weights, 20 MB of activations, 200 MFLOP: 1 ms of memory, 0.2 ms of compute.
LayerFacts MemoryBound() {
  return {.flop_count = 200'000'000, .weight_bytes = 80'000'000, .activation_bytes = 20'000'000};
}
// 2 GFLOP, 10 MB: 2 ms of compute, 0.1 ms of memory.
LayerFacts ComputeBoundLayer() {
  return {.flop_count = 2'000'000'000, .weight_bytes = 8'000'000, .activation_bytes = 2'000'000};
}

// `facts` measured at `elapsed_ns` in every pass; starting takes 1 us.
LayerFacts At(LayerFacts facts, double elapsed_ns) {
  facts.time = {elapsed_ns, elapsed_ns};
  facts.dispatch_ns = 1'000;
  return facts;
}

TEST(AdviseLayer, QuantizeLeavesAQuarterOfTheWeights) {
  // (20 + 80 / 4) MB = 40 MB: 0.4 ms, 2.5 times less.
  EXPECT_NEAR(Speedup(Advise(MemoryBound()), AdviceKind::kQuantize), 2.5, 1e-9);
  LayerFacts int8 = MemoryBound();
  int8.weight_element_bytes = 1;
  EXPECT_EQ(Speedup(Advise(int8), AdviceKind::kQuantize), 0);
}

TEST(AdviseLayer, TheGainIsLimitedByWhatTheBoundExplains) {
  // Half of the time is explained: 2 ms become 1 ms and 0.4 ms.
  const auto advice = Advise(At(MemoryBound(), 2'000'000));
  EXPECT_NEAR(Speedup(advice, AdviceKind::kQuantize), 2 / 1.4, 1e-9);
  // A kernel that is perfect afterwards: 0.4 ms and the start.
  EXPECT_NEAR(Limit(advice, AdviceKind::kQuantize), 2 / 0.401, 1e-9);
  EXPECT_FALSE(Find(advice, AdviceKind::kKernel).speedup.has_value());
  // 1 ms and the start.
  EXPECT_NEAR(Speedup(advice, AdviceKind::kKernel), 2 / 1.001, 1e-9);
}

TEST(AdviseLayer, FasterThanTheBoundDoesNotRaiseTheGain) {
  // 0.5 ms of 1 ms: they become 0.2 ms, after a start that cannot be saved.
  const auto advice = Advise(At(MemoryBound(), 500'000));
  EXPECT_NEAR(Speedup(advice, AdviceKind::kQuantize), 0.5 / 0.201, 1e-9);
  EXPECT_EQ(Speedup(advice, AdviceKind::kKernel), 0);
}

TEST(AdviseLayer, AWideIntervalPromisesOnlyWhatItsWorseEndDoes) {
  LayerFacts facts = At(MemoryBound(), 0);
  facts.time = {1'800'000, 4'200'000};  // 3 ms, 40 % either way
  const auto advice = Advise(facts);
  // Quantizing saves 0.6 ms, less of the longer time: 4.2 ms become 3.6 ms.
  EXPECT_NEAR(Speedup(advice, AdviceKind::kQuantize), 4.2 / 3.6, 1e-9);
  // What nothing can exceed is of the longer time.
  EXPECT_NEAR(Limit(advice, AdviceKind::kQuantize), 4.2 / 0.401, 1e-9);
  EXPECT_NEAR(Limit(advice, AdviceKind::kKernel), 4.2 / 1.001, 1e-9);
  // An interval that reaches to the bound supports no other kernel.
  facts.time = {1'001'000, 4'999'000};
  EXPECT_EQ(Speedup(Advise(facts), AdviceKind::kKernel), 0);
  facts.time = {1'650'000, 4'350'000};  // 60.7 %
  EXPECT_EQ(Speedup(Advise(facts), AdviceKind::kKernel), 0);
}

TEST(AdviseLayer, BatchSharesTheWeights) {
  // Per sample max(0.2 ms of compute, 0.2 ms of activations): 5 times less.
  EXPECT_NEAR(Speedup(Advise(MemoryBound()), AdviceKind::kBatch), 5, 1e-9);
  // Of 4 ms, 3 are above the bound; the start is shared, too.
  const auto measured = Advise(At(MemoryBound(), 4'000'000));
  EXPECT_NEAR(Speedup(measured, AdviceKind::kBatch), 4 / 3.2, 1e-9);
  EXPECT_NEAR(Limit(measured, AdviceKind::kBatch), 4 / 0.2, 1e-9);
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
  const auto advice = Advise(At(ComputeBoundLayer(), 20'000'000));
  EXPECT_NEAR(Speedup(advice, AdviceKind::kKernel), 20 / 2.001, 1e-9);
  EXPECT_EQ(Speedup(advice, AdviceKind::kQuantize), 0);
  EXPECT_EQ(advice.front().kind, AdviceKind::kKernel);
  // 80 %.
  EXPECT_EQ(Speedup(Advise(At(ComputeBoundLayer(), 2'500'000)), AdviceKind::kKernel), 0);
}

// A slow kernel whose bound is far below anything that can be timed: 1000 FLOPs and 500 bytes are
// bound by 5 ns of memory.
LayerFacts Tiny() {
  return {.flop_count = 1000,
          .weight_bytes = 400,
          .activation_bytes = 100,
          .recomputed_positions = 10,
          .available_threads = 8,
          .dispatch_ns = 45};
}

TEST(AdviseLayer, NoKernelIsHeldToBeFasterThanItsStart) {
  LayerFacts facts = Tiny();
  facts.time = {10'000, 10'000};
  const auto advice = Advise(facts);
  ASSERT_EQ(advice.size(), 1u) << "what changes the bound by some ns of 10 us is not worth it";
  EXPECT_EQ(advice[0].kind, AdviceKind::kKernel);
  EXPECT_NEAR(advice[0].max_speedup, 10'000.0 / 50, 1e-9);  // not 10,000 / 5
  EXPECT_NE(advice[0].why.find("the 45 ns that starting it takes"), std::string::npos)
      << advice[0].why;
  facts.dispatch_ns.reset();
  EXPECT_TRUE(Advise(facts).empty()) << "how near a kernel can come is not known";
}

TEST(AdviseLayer, NoRemedyIsHeldToSaveTheStart) {
  // 1.1 ms, bound 1 ms: as int8 that is 0.4 ms, beside a start of 0.5 ms.
  LayerFacts facts = MemoryBound();
  facts.time = {1'100'000, 1'100'000};
  facts.dispatch_ns = 500'000;
  EXPECT_NEAR(Speedup(Advise(facts), AdviceKind::kQuantize), 1.1 / 0.9, 1e-9);
}

TEST(AdviseLayer, PruneHalvesFlopsAndWeights) {
  EXPECT_NEAR(Speedup(Advise(ComputeBoundLayer()), AdviceKind::kPrune), 2, 1e-9);
  // 40 + 20 MB instead of 100.
  EXPECT_NEAR(Speedup(Advise(MemoryBound()), AdviceKind::kPrune), 100.0 / 60, 1e-9);
}

TEST(AdviseLayer, LessDataMayFitANearerCache) {
  // 10 MB of weights and activations from DRAM; half of them fit the cache of 8 MB.
  Ceilings machine = Machine();
  machine.levels.insert(machine.levels.begin(), {MemoryLevel::kL3, 1e12, 8'000'000});
  const LayerFacts facts{
      .flop_count = 1'000'000, .weight_bytes = 10'000'000, .activation_bytes = 0};
  const Result<Bound> bound =
      ComputeBound({.flop_count = 1'000'000, .byte_count = 10'000'000}, machine);
  ASSERT_TRUE(bound.has_value());
  EXPECT_NEAR(bound->bound_ns, 20'000, 1e-6);  // 2 MB at 100 GB/s
  // 5 MB at 1000 GB/s.
  EXPECT_NEAR(Speedup(AdviseLayer(facts, *bound, machine), AdviceKind::kPrune), 20'000 / 5'000.0,
              1e-9);
}

TEST(AdviseLayer, LessDataMayComeRoundInANearerCache) {
  // 4 MB of weights in a pass of 32 MiB come at 100 GB/s; half of them in half of the pass at 200.
  Ceilings machine = Machine();
  machine.levels.insert(machine.levels.begin(), {MemoryLevel::kL3, 1e12, 64 << 20});
  machine.streams = {{1, 16 << 20, 2e11}, {1, 32 << 20, 1e11}};
  const LayerFacts facts{.flop_count = 1'000, .weight_bytes = 4'000'000, .pass_bytes = 32 << 20};
  const Result<Bound> bound = ComputeBound({.flop_count = 1'000,
                                            .byte_count = 4'000'000,
                                            .streamed_bytes = 4'000'000,
                                            .pass_bytes = 32 << 20},
                                           machine);
  ASSERT_TRUE(bound.has_value());
  EXPECT_NEAR(bound->bound_ns, 40'000, 1e-6);
  EXPECT_NEAR(Speedup(AdviseLayer(facts, *bound, machine), AdviceKind::kPrune), 4, 1e-9);
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

TEST(AdviseLayer, ThreadsAreForWorkThatIsShared) {
  LayerFacts facts = MemoryBound();
  facts.available_threads = 8;
  facts.all_threads = Machine();
  facts.all_threads->levels[0].bytes_per_second *= 2;
  EXPECT_NEAR(Speedup(Advise(facts), AdviceKind::kThreads), 2, 1e-9);
  facts.worth_sharing = false;
  EXPECT_EQ(Speedup(Advise(facts), AdviceKind::kThreads), 0);
}

TEST(AdviseLayer, OverheadWantsABatchAndNothingElse) {
  LayerFacts facts = Tiny();
  facts.time = {60, 60};
  auto advice = Advise(facts);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::kBatch);
  // 60 ns less the 45 of starting, not 60 over the bound of 5.
  EXPECT_NEAR(*advice[0].speedup, 60.0 / 15, 1e-9);
  // 100 bytes or 1000 FLOPs: 1 ns.
  EXPECT_NEAR(advice[0].max_speedup, 60, 1e-9);
  // The interval's longer end leaves more.
  facts.time = {50, 70};
  advice = Advise(facts);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_NEAR(*advice[0].speedup, 70.0 / 25, 1e-9);
}

TEST(AdviseLayer, NoBatchIsHeldToSaveMoreThanNineTenths) {
  LayerFacts facts = Tiny();
  for (const double elapsed_ns : {46.0, 45.0, 30.0}) {
    facts.time = {elapsed_ns, elapsed_ns};
    const auto advice = Advise(facts);
    ASSERT_EQ(advice.size(), 1u);
    EXPECT_EQ(advice[0].kind, AdviceKind::kBatch);
    EXPECT_NEAR(*advice[0].speedup, 10, 1e-9);
  }
}

TEST(AdviseLayer, NothingToDoGivesNoAdvice) { EXPECT_TRUE(Advise(LayerFacts{}).empty()); }

TEST(AdviseLayer, IsSortedFiniteAndWorthIt) {
  const auto advice = Advise(At(MemoryBound(), 3'000'000));
  ASSERT_GE(advice.size(), 3u);
  for (size_t i = 0; i < advice.size(); ++i) {
    EXPECT_TRUE(std::isfinite(advice[i].max_speedup));
    EXPECT_GE(Speedup(advice, advice[i].kind), kMinSpeedup);
    EXPECT_GE(advice[i].max_speedup, Speedup(advice, advice[i].kind));
    EXPECT_FALSE(advice[i].why.empty());
    if (i > 0) {
      EXPECT_LE(Speedup(advice, advice[i].kind), Speedup(advice, advice[i - 1].kind));
    }
  }
}

}  // namespace
}  // namespace tinyprof
