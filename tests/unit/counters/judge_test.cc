#include "daemon/counters/calibration/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/counters/calibration/expectations.h"
#include "fake_cpu.h"

namespace tinyprof {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kIterations = 1000;

// Every loop of the fake CPU that concerns the metric, as `per_iteration` counts it.
std::vector<LoopSample> Count(Metric metric, const FakeCpu::Rule& per_iteration,
                              std::optional<double> cycles_per_iteration = std::nullopt) {
  std::vector<LoopSample> samples;
  for (const LoopFacts& facts : X86Facts()) {
    if (Concerns(metric, facts)) {
      const double count = per_iteration(facts) * kIterations;
      samples.push_back(
          {.facts = facts, .iterations = kIterations, .counts = {count, count, count}});
      if (cycles_per_iteration.has_value()) {
        samples.back().cycles = *cycles_per_iteration * kIterations;
      }
    }
  }
  return samples;
}

MetricVerdict Judge(Metric metric, const std::vector<LoopSample>& samples) {
  return JudgeMetric(metric, "A", samples);
}

// What an event counts, by hand: eight instructions of so many lanes.
struct FlopEvent {
  double fma = 2;
  double min_max = 0;
  bool masked_off = true;
  double of_512_bits = 1;  // as a share of the truth

  double operator()(const LoopFacts& facts) const {
    if (facts.kind == WorkKind::kLoad) return 0;
    double count = 8.0 * static_cast<double>(masked_off ? facts.lanes : facts.active_lanes);
    if (facts.kind == WorkKind::kFma) count *= fma;
    if (facts.kind == WorkKind::kMinMax) count *= min_max;
    return facts.width_bits == 512 ? count * of_512_bits : count;
  }
};

TEST(JudgeFlops, TheDefinitionIsFoundOut) {
  // As Intel's events do: minima and maxima count, and so do masked lanes.
  const MetricVerdict intel = Judge(Metric::kFlops, Count(Metric::kFlops, FlopEvent{.min_max = 1}));
  EXPECT_EQ(intel.quality, Quality::kExact);
  EXPECT_EQ(intel.definition, (FlopDefinition{true, true, true}));
  EXPECT_EQ(intel.note,
            "an FMA counts as two operations; lanes that are masked off count; minima and maxima "
            "count");
  EXPECT_THAT(intel.reason, IsEmpty());

  const MetricVerdict other =
      Judge(Metric::kFlops, Count(Metric::kFlops, FlopEvent{.fma = 1, .masked_off = false}));
  EXPECT_EQ(other.quality, Quality::kExact);
  EXPECT_EQ(other.definition, (FlopDefinition{false, false, false}));
  EXPECT_EQ(other.note,
            "an FMA counts as one operation; lanes that are masked off do not count; minima and "
            "maxima do not count");
}

TEST(JudgeFlops, WhatNoLoopShowedIsNotSaid) {
  std::vector<LoopSample> samples = Count(Metric::kFlops, FlopEvent{});
  std::erase_if(samples, [](const LoopSample& sample) {
    return sample.facts.kind != WorkKind::kAdd || sample.facts.lanes != sample.facts.active_lanes;
  });
  EXPECT_THAT(Judge(Metric::kFlops, samples).note, IsEmpty());
}

TEST(JudgeFlops, OneWrongWidthMakesTheMetricSuspectAndIsNamed) {
  // LIKWID issue 224: with counter 3 lost to a microcode update, AVX-512 counts 2.8 times its work.
  const MetricVerdict verdict =
      Judge(Metric::kFlops, Count(Metric::kFlops, FlopEvent{.min_max = 1, .of_512_bits = 2.8}));
  EXPECT_EQ(verdict.quality, Quality::kSuspect);
  EXPECT_THAT(verdict.reason,
              AllOf(StartsWith("IMPLAUSIBLE: "), HasSubstr("all of 512 bits"),
                    HasSubstr("avx512_add_float64 (512 bits) counted 2.8 times its 64000")));
  for (const TrustRow& row : verdict.rows) {
    EXPECT_EQ(row.quality == Quality::kSuspect, row.loop.starts_with("avx512_")) << row.loop;
  }
}

TEST(JudgeFlops, AWidthThatIsNotCountedAtAllIsNamedToo) {
  const MetricVerdict verdict =
      Judge(Metric::kFlops, Count(Metric::kFlops, FlopEvent{.of_512_bits = 0}));
  EXPECT_EQ(verdict.quality, Quality::kSuspect);
  EXPECT_THAT(verdict.reason, HasSubstr("all of 512 bits"));
}

TEST(JudgeFlops, LoadsThatCountAsOperationsAreSuspect) {
  const MetricVerdict verdict =
      Judge(Metric::kFlops, Count(Metric::kFlops, [](const LoopFacts& facts) {
              return facts.kind == WorkKind::kLoad ? 1 : FlopEvent{}(facts);
            }));
  EXPECT_EQ(verdict.quality, Quality::kSuspect);
  EXPECT_THAT(verdict.reason, HasSubstr("load_l1_random counted 1000 where there are none"));
}

TEST(JudgeFlops, AnEventThatNeverMovesIsNotUsable) {
  const MetricVerdict verdict =
      Judge(Metric::kFlops, Count(Metric::kFlops, [](const LoopFacts&) { return 0; }));
  EXPECT_EQ(verdict.quality, std::nullopt);
  EXPECT_THAT(verdict.reason, StartsWith("NEVER_MOVES: "));
  EXPECT_THAT(verdict.note, IsEmpty());
}

TEST(JudgeFlops, PrecisionsAreToldApart) {
  const auto singles = [](const LoopFacts& facts) {
    return facts.double_precision ? 0 : FlopEvent{}(facts);
  };
  EXPECT_EQ(Judge(Metric::kFlopsSingle, Count(Metric::kFlopsSingle, singles)).quality,
            Quality::kExact);
  // An event that counts both is wrong for either.
  const MetricVerdict both = Judge(Metric::kFlopsDouble, Count(Metric::kFlopsDouble, FlopEvent{}));
  EXPECT_EQ(both.quality, Quality::kSuspect);
  EXPECT_THAT(both.reason,
              HasSubstr("scalar_add_float32 (32 bits) counted 8000 where there are none"));
}

TEST(JudgeInstructions, ExactGoodAndSuspect) {
  const auto judged = [](double more) {
    return Judge(Metric::kInstructions, Count(Metric::kInstructions,
                                              [more](const LoopFacts& facts) {
                                                return static_cast<double>(facts.instructions) *
                                                       more;
                                              }))
        .quality;
  };
  EXPECT_EQ(judged(1), Quality::kExact);
  EXPECT_EQ(judged(1.0078125), Quality::kGood);
  EXPECT_EQ(judged(1.015625), Quality::kSuspect);
  EXPECT_EQ(judged(0), std::nullopt);
}

TEST(JudgeInstructions, RepeatsThatDifferAreNotExact) {
  std::vector<LoopSample> samples =
      Count(Metric::kInstructions, [](const LoopFacts& facts) { return facts.instructions; });
  samples[0].counts = {10'000, 10'001, 10'000};
  const MetricVerdict verdict = Judge(Metric::kInstructions, samples);
  EXPECT_EQ(verdict.quality, Quality::kGood);
  EXPECT_EQ(verdict.rows[0].measured, 10'000);
  EXPECT_EQ(verdict.rows[0].spread, 1);
  EXPECT_EQ(verdict.rows[1].quality, Quality::kExact);
}

TEST(JudgeCycles, BeyondWhatAnyCoreDoesIsNotUsable) {
  const auto judged = [](double cycles_per_instruction) {
    std::vector<LoopSample> samples = Count(Metric::kCycles, [&](const LoopFacts& facts) {
      return static_cast<double>(facts.instructions) * cycles_per_instruction;
    });
    return Judge(Metric::kCycles, samples);
  };
  EXPECT_EQ(judged(1.0 / 16).quality, Quality::kGood);
  EXPECT_EQ(judged(1.0 / 17).quality, std::nullopt);
  EXPECT_THAT(judged(1.0 / 17).reason, StartsWith("IMPLAUSIBLE: "));
  EXPECT_EQ(judged(100).quality, Quality::kGood);
  EXPECT_EQ(judged(101).quality, std::nullopt);
}

// One where the level must miss, none where it must hit.
FakeCpu::Rule MissesBeyond(WorkingSet level, double of_each) {
  return [=](const LoopFacts& facts) { return facts.set > level ? of_each : 0; };
}

TEST(JudgeMisses, BoundsOfEachLevel) {
  for (const auto& [metric, level] : {std::pair{Metric::kL1dMisses, WorkingSet::kL1},
                                      std::pair{Metric::kL2Misses, WorkingSet::kL2},
                                      std::pair{Metric::kL3Misses, WorkingSet::kL3}}) {
    const auto judged = [&, m = metric, l = level](double of_each) {
      return Judge(m, Count(m, MissesBeyond(l, of_each))).quality;
    };
    EXPECT_EQ(judged(1), Quality::kGood) << Name(metric);
    EXPECT_EQ(judged(0.5), Quality::kGood) << Name(metric);
    EXPECT_EQ(judged(2), Quality::kGood) << Name(metric);
    EXPECT_EQ(judged(0.49), Quality::kSuspect) << Name(metric);
    EXPECT_EQ(judged(2.01), Quality::kSuspect) << Name(metric);
    EXPECT_EQ(judged(0), std::nullopt) << Name(metric);
  }
}

TEST(JudgeMisses, AnEventThatCountsAccessesInsteadOfMissesIsSuspect) {
  const MetricVerdict verdict =
      Judge(Metric::kL2Misses, Count(Metric::kL2Misses, MissesBeyond(WorkingSet::kL1, 1)));
  EXPECT_EQ(verdict.quality, Quality::kSuspect);
  EXPECT_THAT(verdict.reason, HasSubstr("load_l2_random counted 1000 where 0 to 300"));
}

TEST(JudgeMisses, AWalkInOrderTellsWhetherPrefetchedLinesCount) {
  const auto note = [](double in_order) {
    return Judge(Metric::kL2Misses,
                 Count(Metric::kL2Misses,
                       [&](const LoopFacts& facts) {
                         return facts.in_order ? in_order : MissesBeyond(WorkingSet::kL2, 1)(facts);
                       }))
        .note;
  };
  EXPECT_EQ(note(0.98), "lines that prefetchers bring in count");
  EXPECT_EQ(note(0.1), "lines that prefetchers bring in are left out");
  EXPECT_THAT(note(0.6), IsEmpty());
}

TEST(JudgeDramBytes, LinesOf64Bytes) {
  const auto judged = [](double bytes) {
    return Judge(Metric::kDramBytes,
                 Count(Metric::kDramBytes, MissesBeyond(WorkingSet::kL3, bytes)));
  };
  EXPECT_EQ(judged(64).quality, Quality::kGood);
  EXPECT_EQ(judged(64).expected, 64'000);
  // Lines in place of bytes.
  EXPECT_EQ(judged(1).quality, Quality::kSuspect);
}

TEST(JudgeStallCycles, LieWithinCyclesAndAreManyInAChainOfLoadsFromMemory) {
  const auto judged = [](double of_dram, double of_others, std::optional<double> cycles) {
    return Judge(Metric::kStallCycles,
                 Count(
                     Metric::kStallCycles,
                     [&](const LoopFacts& facts) {
                       return facts.set == WorkingSet::kDram && !facts.in_order ? of_dram
                                                                                : of_others;
                     },
                     cycles));
  };
  EXPECT_EQ(judged(80, 5, 100).quality, Quality::kGood);
  EXPECT_EQ(judged(24, 5, 100).quality, Quality::kSuspect);
  EXPECT_EQ(judged(80, 121, 100).quality, Quality::kSuspect);
  EXPECT_EQ(judged(0, 0, 100).quality, std::nullopt);
  EXPECT_THAT(judged(0, 0, 100).reason, StartsWith("NEVER_MOVES: "));
  // Without cycles nothing can be said.
  EXPECT_EQ(judged(80, 5, std::nullopt).quality, Quality::kSuspect);
  EXPECT_THAT(judged(80, 5, std::nullopt).reason, StartsWith("NOT_CALIBRATED: "));
  // Least of all whether an event that counted nothing would.
  EXPECT_EQ(judged(0, 0, std::nullopt).quality, std::nullopt);
  EXPECT_THAT(judged(0, 0, std::nullopt).reason, StartsWith("NOT_CALIBRATED: "));
}

TEST(JudgeBranchMisses, HalfOfTheUnpredictableAndHardlyAnyOther) {
  const auto judged = [](double random, double loop) {
    return Judge(Metric::kBranchMisses, Count(Metric::kBranchMisses, [&](const LoopFacts& facts) {
                   return facts.kind == WorkKind::kBranch ? random : loop;
                 }));
  };
  EXPECT_EQ(judged(0.5, 0.001).quality, Quality::kGood);
  EXPECT_EQ(judged(3, 0.001).quality, Quality::kSuspect);  // branches, not misses
  EXPECT_EQ(judged(0.5, 0.5).quality, Quality::kSuspect);
  EXPECT_EQ(judged(0, 0).quality, std::nullopt);
}

TEST(JudgeDtlbMisses, OneForEachPageAndNoneInAFewPages) {
  const auto judged = [](double pages, double l1) {
    return Judge(Metric::kDtlbMisses, Count(Metric::kDtlbMisses,
                                            [&](const LoopFacts& facts) {
                                              return facts.kind == WorkKind::kPages ? pages : l1;
                                            }))
        .quality;
  };
  EXPECT_EQ(judged(1, 0), Quality::kGood);
  EXPECT_EQ(judged(0.2, 0), Quality::kSuspect);
  EXPECT_EQ(judged(1, 1), Quality::kSuspect);
  EXPECT_EQ(judged(0, 0), std::nullopt);
}

TEST(JudgeMetric, LoopsThatWereLostAreRowsWithTheirReasonAndNeverZero) {
  std::vector<LoopSample> samples =
      Count(Metric::kInstructions, [](const LoopFacts& facts) { return facts.instructions; });
  samples[1].counts.clear();
  samples[1].lost_reason = "COUNTERS_LOST: scripted";
  const MetricVerdict verdict = Judge(Metric::kInstructions, samples);
  EXPECT_EQ(verdict.quality, Quality::kGood);  // not all that could be known is
  EXPECT_EQ(verdict.rows[1].measured, std::nullopt);
  EXPECT_EQ(verdict.rows[1].quality, std::nullopt);
  EXPECT_EQ(verdict.rows[1].reason, "COUNTERS_LOST: scripted");

  for (LoopSample& sample : samples) {
    sample.counts.clear();
    sample.lost_reason = "COUNTERS_LOST: scripted";
  }
  EXPECT_EQ(Judge(Metric::kInstructions, samples).quality, std::nullopt);
  EXPECT_EQ(Judge(Metric::kInstructions, samples).reason, "COUNTERS_LOST: scripted");
}

TEST(JudgeMetric, LessThanNothingIsSuspect) {
  std::vector<LoopSample> samples = Count(Metric::kL1dMisses, MissesBeyond(WorkingSet::kL1, 1));
  for (LoopSample& sample : samples) {
    if (sample.facts.set == WorkingSet::kL1) {
      sample.counts = {-5, -5, -5};
    }
  }
  EXPECT_EQ(Judge(Metric::kL1dMisses, samples).quality, Quality::kSuspect);
}

}  // namespace
}  // namespace tinyprof
