#include "daemon/counters/event_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Term = Formula::Term;

TEST(ParseFormula, ReadsWeightsAndSigns) {
  const Result<Formula> formula = ParseFormula("4*FP:128B + A::B:k=1 - 0.5*C-D");
  ASSERT_TRUE(formula.has_value());
  EXPECT_THAT(formula->terms,
              ElementsAre(Term{"FP:128B", 4}, Term{"A::B:k=1", 1}, Term{"C-D", -0.5}));
  EXPECT_EQ(formula->ToString(), "4*FP:128B + A::B:k=1 - 0.5*C-D");
}

TEST(ParseFormula, RefusesWhatIsNoFormula) {
  for (const char* text : {"", "   ", "A +", "+ A", "A B", "x*A", "4*", "*A", "A * 4", "nan*A",
                           "inf*A", "A+B", "4**A"}) {
    const Result<Formula> formula = ParseFormula(text);
    ASSERT_FALSE(formula.has_value()) << text;
    EXPECT_EQ(formula.error().reason, "BAD_FORMULA") << text;
  }
}

double FlopsOf(const Formula& formula, const std::map<std::string, double>& counts) {
  double sum = 0;
  for (const Term& term : formula.terms) {
    const auto found = counts.find(term.event);
    sum += found == counts.end() ? 0 : term.weight * found->second;
  }
  return sum;
}

TEST(CandidatesFor, IntelFlopsWeighInstructionsByLanes) {
  const std::map<std::string, double> lanes = {
      {"SCALAR_SINGLE", 1},       {"SCALAR_DOUBLE", 1},      {"128B_PACKED_SINGLE", 4},
      {"128B_PACKED_DOUBLE", 2},  {"256B_PACKED_SINGLE", 8}, {"256B_PACKED_DOUBLE", 4},
      {"512B_PACKED_SINGLE", 16}, {"512B_PACKED_DOUBLE", 8}};
  for (const char* pmu : {"skx", "clx"}) {
    const Formula formula = CandidatesFor(pmu, Metric::kFlops).formulas.at(0);
    EXPECT_THAT(formula.terms, SizeIs(lanes.size())) << pmu;
    for (const Term& term : formula.terms) {
      EXPECT_EQ(term.weight, lanes.at(term.event.substr(term.event.find(':') + 1))) << term.event;
    }
  }
}

TEST(CandidatesFor, JoinedIntelEventsGiveTheSameFlopsAsOnesByWidth) {
  // Seven instructions of each width and precision; joined events count two of them.
  const double k = 7;
  const std::map<std::string, double> counts = {{"FP_ARITH_INST_RETIRED:SCALAR_SINGLE", k},
                                                {"FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", k},
                                                {"FP_ARITH_INST_RETIRED:SCALAR", 2 * k},
                                                {"FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", k},
                                                {"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", k},
                                                {"FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", k},
                                                {"FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", k},
                                                {"FP_ARITH_INST_RETIRED:4_FLOPS", 2 * k},
                                                {"FP_ARITH_INST_RETIRED:8_FLOPS", 2 * k},
                                                {"FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", k},
                                                {"FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE", k}};
  for (const char* pmu : {"icx", "spr"}) {
    const auto formulas = CandidatesFor(pmu, Metric::kFlops).formulas;
    // 1 + 1 + 4 + 2 + 8 + 4 + 16 + 8 lanes.
    EXPECT_EQ(FlopsOf(formulas.at(0), counts), 44 * k) << pmu;
    EXPECT_EQ(FlopsOf(formulas.at(1), counts), 44 * k) << pmu;
  }
}

TEST(CandidatesFor, ArmVectorLengthScalesFlops) {
  EXPECT_EQ(CandidatesFor("arm_v1", Metric::kFlops).formulas.at(0).ToString(),
            "FP_FIXED_OPS_SPEC + 2*FP_SCALE_OPS_SPEC");
  EXPECT_EQ(CandidatesFor("arm_n2", Metric::kFlops).formulas.at(0).ToString(),
            "FP_FIXED_OPS_SPEC + FP_SCALE_OPS_SPEC");
}

TEST(CandidatesFor, SaysWhatIsCounted) {
  const Formula intel = CandidatesFor("spr", Metric::kFlops).formulas.at(0);
  EXPECT_EQ(intel.rule.flops->per_fma, 2);
  EXPECT_FALSE(intel.rule.flops->lanes_in_event);
  EXPECT_EQ(intel.rule.flops->min_max, Answer::kYes);
  EXPECT_EQ(intel.rule.speculative, Answer::kNo);
  EXPECT_THAT(intel.note, HasSubstr("minimum and maximum count; masked-off lanes count"));
  EXPECT_EQ(intel.counters, 5);

  const Formula zen = CandidatesFor("amd64_fam19h_zen3", Metric::kFlops).formulas.at(0);
  EXPECT_TRUE(zen.rule.flops->lanes_in_event);
  EXPECT_EQ(zen.rule.flops->min_max, Answer::kUnknown);
  EXPECT_EQ(zen.counters, 2);
  EXPECT_THAT(zen.note, HasSubstr("see erratum AMD 1292"));

  const Formula arm = CandidatesFor("arm_v2", Metric::kFlops).formulas.at(0);
  EXPECT_EQ(arm.rule.speculative, Answer::kYes);
  EXPECT_THAT(arm.note, HasSubstr("work on mispredicted paths counts"));
}

TEST(CandidatesFor, MemoryTrafficIsLabelledAnEstimate) {
  for (const char* pmu :
       {"skx", "icx", "spr", "zen2", "zen3", "zen4", "arm_n1", "arm_v1", "arm_n2", "arm_v2"}) {
    for (const Formula& formula : CandidatesFor(pmu, Metric::kDramBytes).formulas) {
      EXPECT_TRUE(formula.rule.proxy) << pmu;
      EXPECT_THAT(formula.note, StartsWith("an estimate; 64 bytes for each ")) << pmu;
      EXPECT_EQ(formula.Describe(), "estimate: " + formula.ToString());
      for (const Term& term : formula.terms) {
        EXPECT_EQ(term.weight, 64) << term.event;
      }
    }
  }
  EXPECT_THAT(CandidatesFor("skx", Metric::kL2Misses).formulas.at(0).Describe(), "L2_LINES_IN:ALL");
}

TEST(RawEncoding, IsThatOfTheFamily) {
  EXPECT_EQ(RawEncoding(CpuFamily::kZen4, "RETIRED_SSE_AVX_FLOPS:ANY")->config, 0x1f03u);
  EXPECT_EQ(RawEncoding(CpuFamily::kZen3, "RETIRED_SSE_AVX_FLOPS:ANY")->config, 0x0f03u);
  const RawEvent reads = {RawEvent::kRaw, 0x12a, 0x73c004477};
  EXPECT_EQ(RawEncoding(CpuFamily::kSpr, "OCR:READS_TO_CORE_DRAM"), reads);
  const RawEvent instructions = {RawEvent::kHardware, 1, 0};
  EXPECT_EQ(RawEncoding(CpuFamily::kGeneric, "perf::INSTRUCTIONS"), instructions);
  EXPECT_EQ(RawEncoding(CpuFamily::kZen4, "INST_RETIRED:ANY_P"), std::nullopt);
  EXPECT_EQ(RawEncoding(CpuFamily::kGeneric, "PAPI_FP_OPS"), std::nullopt);
}

TEST(CandidatesFor, EveryKnownCpuHasTheCoreMetricsOrAReason) {
  for (const char* pmu : {"skx", "clx", "icx", "spr", "amd64_fam17h_zen2", "amd64_fam19h_zen3",
                          "amd64_fam19h_zen4", "arm_n1", "arm_v1", "arm_n2", "arm_v2"}) {
    for (const Metric metric : kMetrics) {
      const MetricCandidates candidates = CandidatesFor(pmu, metric);
      EXPECT_THAT(candidates.absent_reason, Not(IsEmpty())) << pmu << " " << Name(metric);
    }
    EXPECT_THAT(CandidatesFor(pmu, Metric::kCycles).formulas, Not(IsEmpty())) << pmu;
    EXPECT_THAT(CandidatesFor(pmu, Metric::kInstructions).formulas, Not(IsEmpty())) << pmu;
    EXPECT_THAT(CandidatesFor(pmu, Metric::kL1dMisses).formulas, Not(IsEmpty())) << pmu;
  }
}

TEST(CandidatesFor, ACpuThatCountsNoFlopsDoesNotFallBackToAPresetOfThatName) {
  const MetricCandidates flops = CandidatesFor("arm_n1", Metric::kFlops);
  EXPECT_THAT(flops.formulas, IsEmpty());
  EXPECT_THAT(flops.absent_reason, HasSubstr("NOT_COUNTED_BY_CPU: "));
}

TEST(CandidatesFor, AnUnknownCpuStillHasGenericEvents) {
  EXPECT_EQ(CandidatesFor("", Metric::kInstructions).formulas.back().ToString(),
            "perf::INSTRUCTIONS");
  EXPECT_THAT(CandidatesFor("", Metric::kDramBytes).formulas, IsEmpty());
  EXPECT_THAT(CandidatesFor("", Metric::kDramBytes).absent_reason, HasSubstr("NOT_PER_THREAD: "));
}

}  // namespace
}  // namespace tinyprof
