#include "daemon/measure/plausibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/measure/counter_values.h"

namespace tinyprof {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr size_t kLayers = 3;

// Groups {CYC, INS, FP} and {CYC, INS, L3}; three layers of 50 us at 2 GHz, 100,000 cycles each.
class PlausibilityTest : public ::testing::Test {
 protected:
  PlausibilityTest() {
    plan_.groups = {{"CYC", "INS", "FP"}, {"CYC", "INS", "L3"}};
    Plan(Metric::kCycles, "CYC", {0, 0});
    Plan(Metric::kInstructions, "INS", {0, 1});
    Plan(Metric::kFlops, "FP", {0, 2});
    Plan(Metric::kL3Misses, "L3", {1, 2});
    for (GroupSamples& group : samples_.groups) {
      group.event_count = 3;
      group.passes.assign(3, {});
      for (auto& pass : group.passes) {
        for (size_t layer = 0; layer < kLayers; ++layer) {
          const double more = static_cast<double>(layer);
          pass.insert(pass.end(), {1e5 + more, 2e5 + more, 4e5 + more});
        }
      }
    }
    SetAll(1, 2, 0);
  }

  void Plan(Metric metric, const char* formula, EventPosition position) {
    plan_.metrics[static_cast<size_t>(metric)] = {
        .formula = *ParseFormula(formula), .positions = {position}, .quality = Quality::kExact};
  }

  // An event of a group in every layer of each pass.
  void SetAll(size_t group, size_t event, double count) {
    for (auto& pass : samples_.groups[group].passes) {
      for (size_t layer = 0; layer < kLayers; ++layer) pass[layer * 3 + event] = count;
    }
  }

  std::vector<CounterValues> Judge() {
    std::vector<CounterValues> layers = LayerValues(plan_, samples_, kLayers, Source::kPapi);
    doubts_ = RemoveImplausible(plan_, samples_, facts_, layers);
    return layers;
  }
  CounterValues Total() { return SumOverLayers(Judge(), AbsentValues("NONE: x", Source::kPapi)); }

  CounterPlan plan_;
  CounterSamples samples_{.groups = std::vector<GroupSamples>(2)};
  PassFacts facts_{.pass_ns = 150'000,
                   .layer_ns = {50'000, 50'000, 50'000},
                   .work = std::vector<LayerWork>(kLayers, {.least_flops_single = 4e5}),
                   .clock_hz = 2e9};
  std::vector<Doubt> doubts_;
};

TEST_F(PlausibilityTest, WhatIsRightStaysAsItWas) {
  const CounterValues total = Total();
  EXPECT_THAT(doubts_, IsEmpty());
  EXPECT_EQ(total.flops.quality, Quality::kExact);
  EXPECT_EQ(total.l3_misses.value, 0) << "everything is in the cache";
  EXPECT_EQ(total.l3_misses.quality, Quality::kExact);
}

TEST_F(PlausibilityTest, BesideADeadAnchorAllIsSuspectAndZeroSaysNothing) {
  SetAll(0, 1, 0);
  SetAll(1, 1, 0);
  const CounterValues total = Total();
  EXPECT_THAT(total.instructions.reason, StartsWith("STOPPED_MOVING: "));
  EXPECT_EQ(total.instructions.value, std::nullopt);
  EXPECT_EQ(total.flops.quality, Quality::kSuspect);
  EXPECT_EQ(total.flops.value, 1'200'003);  // 3 * 400,000 + 0 + 1 + 2
  EXPECT_EQ(total.cycles.quality, Quality::kSuspect);
  EXPECT_EQ(total.l3_misses.value, std::nullopt);
  EXPECT_THAT(total.l3_misses.reason,
              AllOf(StartsWith("STOPPED_MOVING: "), HasSubstr("instructions")));
}

TEST_F(PlausibilityTest, AnAnchorThatIsDeadInOneGroupDoubtsThatGroupOnly) {
  SetAll(1, 0, 0);
  const CounterValues total = Total();
  EXPECT_EQ(total.l3_misses.value, std::nullopt);
  EXPECT_EQ(total.cycles.value, 300'003);  // of the first group
  EXPECT_EQ(total.flops.quality, Quality::kExact);
}

TEST_F(PlausibilityTest, CyclesOfNoClockDoubtAllThatTheyAnchor) {
  SetAll(0, 0, 1e7);
  const CounterValues total = Total();
  EXPECT_EQ(total.cycles.value, std::nullopt);
  EXPECT_EQ(total.flops.quality, Quality::kSuspect);
  EXPECT_THAT(total.flops.reason, StartsWith("IMPLAUSIBLE: cycles that cannot be right"));
  EXPECT_EQ(total.l3_misses.value, std::nullopt);
}

TEST_F(PlausibilityTest, ALayerThatCannotBeTakesItsTotalAndDoubtsTheOthers) {
  for (auto& pass : samples_.groups[0].passes) pass[1 * 3 + 2] = 0;  // FLOPs of layer 1
  const std::vector<CounterValues> layers = Judge();
  EXPECT_EQ(layers[1].flops.value, std::nullopt);
  EXPECT_THAT(layers[1].flops.reason, StartsWith("STOPPED_MOVING: none was counted in layer 1"));
  EXPECT_EQ(layers[0].flops.value, 4e5);
  EXPECT_EQ(layers[0].flops.quality, Quality::kSuspect);
  EXPECT_EQ(Total().flops.value, std::nullopt);
  EXPECT_EQ(Total().cycles.quality, Quality::kExact);
}

TEST_F(PlausibilityTest, FlopsThatDifferFromPassToPassAreSuspect) {
  for (size_t layer = 0; layer < kLayers; ++layer) {
    samples_.groups[0].passes[2][layer * 3 + 2] *= 1.04;  // 3 % are allowed
  }
  EXPECT_EQ(Total().flops.quality, Quality::kSuspect);
  EXPECT_THAT(Total().flops.reason, StartsWith("UNSTEADY: FP counted 1200003 to 1248003"));
  for (size_t layer = 0; layer < kLayers; ++layer) {
    samples_.groups[0].passes[2][layer * 3 + 2] = 4.01e5;
  }
  EXPECT_EQ(Total().flops.quality, Quality::kGood);
}

TEST_F(PlausibilityTest, TheSameInEveryLayerIsSuspectWhereTheirTimesAreVeryDifferent) {
  SetAll(0, 1, 2e5);
  EXPECT_EQ(Total().instructions.quality, Quality::kExact);
  facts_.layer_ns = {40'000, 2'000, 110'000};
  EXPECT_EQ(Total().instructions.quality, Quality::kSuspect);
  EXPECT_THAT(Total().instructions.reason, HasSubstr("in every layer"));
}

TEST_F(PlausibilityTest, WhatCalibratingFoundSuspectKeepsItsReason) {
  PlannedMetric& flops = plan_.metrics[static_cast<size_t>(Metric::kFlops)];
  flops.quality = Quality::kSuspect;
  flops.reason = "IMPLAUSIBLE: 1 of 2 loops are off";
  SetAll(0, 1, 0);
  EXPECT_EQ(Total().flops.reason, "IMPLAUSIBLE: 1 of 2 loops are off");
}

TEST_F(PlausibilityTest, TheWarningNamesMetricsReasonsAndTheCommand) {
  SetAll(0, 1, 0);
  SetAll(1, 1, 0);
  Judge();
  EXPECT_THAT(DescribeDoubts(doubts_),
              AllOf(HasSubstr("instructions left out (STOPPED_MOVING: "),
                    HasSubstr("flops, cycles doubtful ("), HasSubstr("l3_misses left out ("),
                    HasSubstr("`tinyprof-client counters --calibrate`")));
}

}  // namespace
}  // namespace tinyprof
