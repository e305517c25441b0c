// Tables and notes of runs against hand-written text.
#include "client/render/people.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/render/names.h"
#include "client/render/run_notes.h"
#include "tests/unit/client/fixture.h"

namespace tinyprof::client {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RunText, IsTheWrittenPage) {
  EXPECT_EQ(RunText(SucceededRun(), {}),
            R"(tiny (layers), input: x 2x4 float32
15 parameters (60 B), 54 FLOP, 24 MAC, 0.50 FLOP/byte
not counted, no rule for: Mystery
eigen, avx2, 1 thread (CPU 1), warm cache, 50 passes (precision reached); run r-1

#  layer         op       output  params  FLOP  time µs    ±%  GFLOP/s  bound  % of bound  bound by       counted FLOP  kernel
0  fc            Gemm     2x3         15    54     3.00  25.0     0.02   0.04        50.0  memory (DRAM)           n/a  eigen gemm
1  odd "one",\n  Mystery  2x3          0   n/a     1.00  25.0      n/a    n/a         n/a  n/a                     n/a  n/a
   total                              15    54     4.00  25.0     0.01   0.04        50.0  memory (DRAM)           n/a

time: median 4.00 µs ± 25.0 % (95 %), p99 4.00 µs, 150 passes, 2 outliers; first pass 9.00 µs
73 % of the pass in memory-bound layers, 24 % in layers without a bound, 2 % in no layer
counters: n/a (NO_PMU: no PMU here)
mean of the bare passes: CPU time 4.00 µs, page faults 0, context switches 0, migrations n/a (NO_EVENT: not counted here)
overhead: a reading costs 25 ns, starting a layer 45 ns; 100 ns of the pass belong to no layer; instrumented / bare pass 1.025
warning: the clock is not fixed
advice: layer fc: batch, this layer per sample about 1.50 times as fast, at most 2.00 (25 % of the pass); weights are 52 % of the traffic
)");
}

TEST(RunText, AdviceNamesALayerAsItsTableDoes) {
  v1::Run run = SucceededRun();
  v1::LayerAnalysis& fused = *run.mutable_report()->mutable_layers(0)->mutable_analysis();
  fused.add_fused("fc");
  fused.add_fused("relu");
  EXPECT_THAT(RunText(run, {}), HasSubstr("\n0  fc+relu "));
  EXPECT_THAT(RunText(run, {}), HasSubstr("advice: layer fc+relu: batch"));
}

// 2 for each of the 24 multiply-accumulates, which are no FLOPs.
TEST(RunText, IntegerOperationsHaveAColumnWhereThereAreAny) {
  v1::Run run = SucceededRun();
  v1::RunReport& report = *run.mutable_report();
  EXPECT_THAT(RunText(run, {}), Not(HasSubstr("IOP")));
  EXPECT_THAT(AnalysisText(report.analysis(), {}), Not(HasSubstr("IOP")));
  for (v1::Cost* cost : {report.mutable_layers(0)->mutable_analysis()->mutable_cost(),
                         report.mutable_analysis()->mutable_totals()}) {
    cost->set_mac_count(0);
    cost->set_flop_count(0);
    cost->set_int_op_count(48);
  }
  *report.mutable_analysis()->add_layers() = report.layers(0).analysis();
  const std::string text = RunText(run, {});
  EXPECT_THAT(text, HasSubstr("0 FLOP, 0 MAC, 48 IOP (integer operations, which are no FLOPs)"));
  EXPECT_THAT(text, HasSubstr("params  FLOP  IOP  time µs"));
  EXPECT_THAT(text, HasSubstr("Gemm     2x3         15     0   48     3.00"));
  EXPECT_THAT(text, HasSubstr("Mystery  2x3          0   n/a  n/a     1.00"));
  EXPECT_THAT(text, HasSubstr("total                              15     0   48     4.00"));
  const std::string analysis = AnalysisText(report.analysis(), {});
  EXPECT_THAT(analysis, HasSubstr("FLOP  IOP"));
  EXPECT_THAT(LayerText(run, {}), HasSubstr("IOP"));
}

TEST(RunText, SaysWhyAPercentileIsMissing) {
  v1::Run run = SucceededRun();
  run.mutable_report()->mutable_time()->clear_p99_ns();
  EXPECT_THAT(RunText(run, {}), HasSubstr("(95 %), p99 n/a (wants 100 passes), 150 passes"));
  EXPECT_THAT(LatencyText(run, {}), HasSubstr("n/a (wants 100 passes"));
}

TEST(SettingLine, NamesWhatTheBackendWouldNotDoByItself) {
  v1::Run run = SucceededRun();
  v1::RunSpec& spec = *run.mutable_spec();
  v1::RunReport& report = *run.mutable_report();
  const auto starts_with = [&](const std::string& text) {
    EXPECT_THAT(SettingLine(run), testing::StartsWith(text + ", avx2, 1 thread"));
  };
  spec.set_conv_algorithm(v1::CONV_ALGORITHM_DIRECT);
  starts_with("eigen");
  spec.set_fuse(true);
  starts_with("eigen, fused layers");
  spec.set_backend(v1::BACKEND_ONEDNN);
  report.set_backend("onednn");
  spec.set_conv_algorithm(v1::CONV_ALGORITHM_WINOGRAD);
  starts_with("onednn, winograd convolutions, fused layers");
  spec.set_fuse(false);
  spec.set_conv_algorithm(v1::CONV_ALGORITHM_AUTO);
  starts_with("onednn, direct or winograd convolutions");
  spec.set_backend(v1::BACKEND_BEST);
  report.set_backend("best");
  starts_with("best");
  spec.set_conv_algorithm(v1::CONV_ALGORITHM_DIRECT);
  starts_with("best, direct convolutions");
}

TEST(RunText, LayersThatAddUpToMoreThanThePassAreSaidSo) {
  v1::Run run = SucceededRun();
  run.mutable_report()->mutable_overhead()->set_unattributed_ns(-100);
  EXPECT_THAT(RunText(run, {}),
              HasSubstr("the layers' medians add up to 100 ns more than the pass's; "));
}

TEST(RunText, AdviceOnTheModelNamesItAlone) {
  v1::Run run = SucceededRun();
  v1::Advice& advice = *run.mutable_report()->add_advice();
  advice.set_kind("kernel");
  advice.set_max_speedup(1.6);
  advice.set_why("it would save up to 38 % of the pass, in 2 layers");
  EXPECT_THAT(RunText(run, {}),
              HasSubstr("\nadvice: model: kernel, the whole pass at most 1.60 times as fast; it "
                        "would save up to 38 % of the pass, in 2 layers\n"));
  advice.set_kind("batch");
  advice.set_speedup(1.25);
  EXPECT_THAT(RunText(run, {}),
              HasSubstr("batch, each sample about 1.25 times as fast, at most 1.60; "));
  run.mutable_report()->mutable_layers(0)->mutable_advice(0)->set_speedup(1.01);
  EXPECT_THAT(RunText(run, {}), Not(HasSubstr("advice: layer")));
}

// The layer's 3 µs by 1.01 save 30 ns of the pass's 4 µs: 0.7 %.
TEST(RunText, LeavesOutAdviceThatSavesNextToNothing) {
  v1::Run run = SucceededRun();
  v1::Advice& advice = *run.mutable_report()->mutable_layers(0)->mutable_advice(0);
  advice.set_speedup(1.01);
  EXPECT_THAT(RunText(run, {}), Not(HasSubstr("advice")));
  advice.set_speedup(1.02);
  EXPECT_THAT(RunText(run, {}), HasSubstr("(1 % of the pass)"));
}

TEST(RunText, AdvisesAModelOfOneLayerOnce) {
  v1::Run run = SucceededRun();
  run.mutable_report()->mutable_layers()->RemoveLast();
  v1::Advice& advice = *run.mutable_report()->add_advice();
  advice.set_kind("batch");
  advice.set_max_speedup(1.9);
  advice.set_why("it would save up to 47 % of the pass, in 1 layer");
  v1::Advice& other = *run.mutable_report()->mutable_layers(0)->add_advice();
  other.set_kind("threads");
  other.set_max_speedup(1.5);
  other.set_why("one core is at its end");
  for (const std::string& text : {RunText(run, {}), LayerText(run, {})}) {
    EXPECT_THAT(text, HasSubstr("advice: model: batch, each sample at most 1.90 times as fast; "
                                "weights are 52 % of the traffic\n"));
    EXPECT_THAT(text, Not(HasSubstr("advice: layer fc: batch")));
    EXPECT_THAT(text, HasSubstr("advice: layer fc: threads"));
  }
}

TEST(HalfWidthText, IsNoZeroThatIsNone) {
  v1::TimeStats time;
  time.set_median_ns(1000);
  time.set_n(50);
  time.set_ci_low_ns(999.8);
  time.set_ci_high_ns(1000.2);
  EXPECT_EQ(HalfWidthText(time), "<0.1");
  time.set_ci_high_ns(1001.2);
  EXPECT_EQ(HalfWidthText(time), "0.1");
  // The clock has steps, so an interval without width is narrow and not a point.
  time.set_ci_low_ns(1000);
  time.set_ci_high_ns(1000);
  EXPECT_EQ(HalfWidthText(time), "<0.1");
}

TEST(RunText, WritesRareEventsAsTheyAre) {
  v1::Run run = SucceededRun();
  v1::SoftwareEvents& software = *run.mutable_report()->mutable_software();
  software.mutable_context_switches()->set_value(0.003);
  software.mutable_page_faults()->set_value(0.25);
  EXPECT_THAT(RunText(run, {}), HasSubstr("page faults 0.25, context switches <0.01, "));
}

TEST(RunText, SaysWhatStartingALayerCosts) {
  v1::Run run = SucceededRun();
  v1::Overhead& overhead = *run.mutable_report()->mutable_overhead();
  overhead.set_team_dispatch_ns(2'100);
  EXPECT_THAT(RunText(run, {}), HasSubstr("starting a layer 45 ns (2.10 µs on all threads);"));
  overhead.clear_dispatch_ns();
  EXPECT_THAT(RunText(run, {}), HasSubstr("starting a layer n/a (not measured);"));
}

TEST(RunText, FitsEightyColumns) {
  const std::string text = RunText(SucceededRun(), {80, {}, 0});
  std::istringstream lines(text.substr(text.find('#')));
  std::string line;
  for (int row = 0; row < 4 && std::getline(lines, line); ++row) {
    EXPECT_LE(DisplayWidth(line), 80) << line;
    EXPECT_THAT(line, Not(HasSubstr("\n")));
  }
  EXPECT_THAT(text, HasSubstr("% of bound"));
}

TEST(RunText, ShowsTheSlowestWhenAsked) {
  const std::string text = RunText(SucceededRun(), {0, {}, 1});
  EXPECT_THAT(text, HasSubstr("1 of 2 layers shown"));
  EXPECT_THAT(text, Not(HasSubstr("Mystery  2x3")));
}

TEST(RunText, OneIsSingular) {
  v1::Run run = SucceededRun();
  v1::RunReport& report = *run.mutable_report();
  report.mutable_time()->set_n(1);
  report.mutable_time()->set_outliers(1);
  report.mutable_passes()->set_timing(1);
  report.mutable_layers()->RemoveLast();
  report.mutable_layers(0)->mutable_time()->set_n(1);
  for (const std::string& text :
       {RunText(run, {}), LayerText(run, {}), LatencyText(run, {}), MemoryText(run, {})}) {
    for (const char* wrong : {"1 passes", "1 outliers", "1 threads", "1 layers"}) {
      EXPECT_THAT(text, Not(HasSubstr(wrong)));
    }
  }
  EXPECT_THAT(RunText(run, {}), HasSubstr("1 pass, 1 outlier;"));
}

TEST(LatencyText, SpellsTheUnitAsTheTablesDo) {
  EXPECT_THAT(LatencyText(SucceededRun(), {}), HasSubstr("13.5 MFLOP/s"));
  EXPECT_THAT(LatencyText(SucceededRun(), {}), Not(HasSubstr("flop")));
}

TEST(LatencyText, TellsWhatElseRanMeanwhile) {
  const std::string text = LatencyText(SucceededRun(), {});
  EXPECT_THAT(text, HasSubstr("CPU time 4.00 µs, page faults 0, context switches 0"));
  EXPECT_THAT(text, testing::EndsWith("\nwarning: the clock is not fixed\n"));
}

TEST(RunListText, SaysWhenEachWasAskedFor) {
  v1::Run undated = RunInState(v1::RUN_STATE_QUEUED);
  undated.clear_create_time();
  EXPECT_EQ(RunListText({RunInState(v1::RUN_STATE_RUNNING), undated}, {}),
            "run  state    created (UTC)        model        backend  threads  error\n"
            "r-1  RUNNING  2023-11-14 22:13:20  linear(4,3)  eigen          1\n"
            "r-1  QUEUED   n/a                  linear(4,3)  eigen          1\n");
}

TEST(ModelLines, NameInputsWhereThatSaysSomething) {
  v1::ModelAnalysis analysis = Analysis();
  analysis.mutable_inputs(0)->set_name("input");
  EXPECT_THAT(ModelLines(analysis), testing::StartsWith("tiny (layers), input: 2x4 float32\n"));
  *analysis.add_inputs() = analysis.inputs(0);
  analysis.mutable_inputs(1)->set_name("mask");
  EXPECT_THAT(ModelLines(analysis),
              testing::StartsWith("tiny (layers), inputs: input 2x4 float32, mask 2x4 float32\n"));
}

// A tied tensor of 15 parameters, used by two layers.
TEST(Tables, CountASharedParameterOnceInTheTotal) {
  v1::Run run = SucceededRun();
  v1::ModelAnalysis& analysis = *run.mutable_report()->mutable_analysis();
  analysis.set_parameter_count(30);
  v1::ModelAnalysis analyzed = Analysis();
  analyzed.set_parameter_count(30);
  for (const std::string& text : {RunText(run, {}), AnalysisText(analyzed, {})}) {
    EXPECT_THAT(text, HasSubstr("\n15 parameters (60 B)"));
    EXPECT_THAT(text, HasSubstr("15 parameters are shared"));
    const std::string total = text.substr(text.find("   total"));
    EXPECT_THAT(total.substr(0, total.find('\n')), testing::ContainsRegex(" 15 .* 54 "));
    EXPECT_THAT(total.substr(0, total.find('\n')), Not(HasSubstr("30")));
  }
}

TEST(RunText, SaysHowAFailedRunFailed) {
  EXPECT_EQ(RunText(RunInState(v1::RUN_STATE_FAILED), {}),
            "run    r-1\n"
            "model  linear(4,3)\n"
            "state  FAILED\n"
            "error  OUT_OF_MEMORY: the worker needs more than 1 GiB\n"
            "layer  fc\n");
}

TEST(RunText, LabelsTheTrafficOfWholeSockets) {
  EXPECT_THAT(RunText(RunWithTraffic("memory controllers: a + b", "whole socket, all"), {}),
              HasSubstr("\nmemory traffic: 12.0 MiB a pass (whole socket, all)\n"));
}

TEST(RunText, LabelsTrafficThatIsEstimated) {
  EXPECT_THAT(RunText(RunWithTraffic("estimate: 64*L3", "PERMISSION: no"), {}),
              HasSubstr("\nmemory traffic: 12.0 MiB a pass (estimate: 64*L3; PERMISSION: no)\n"));
}

TEST(RunText, SaysWhyThereIsNoTrafficUnlessNothingIsCounted) {
  v1::Run run = SucceededRun();
  EXPECT_THAT(RunText(run, {}), Not(HasSubstr("memory traffic")));
  run.mutable_report()->mutable_counters()->mutable_dram_bytes()->set_reason("PERMISSION: no");
  EXPECT_THAT(RunText(run, {}), HasSubstr("\nmemory traffic: n/a (PERMISSION: no)\n"));
}

TEST(RunText, MarksCountedFlopsThatAreSuspect) {
  v1::Run run = SucceededRun();
  v1::Quantity& flops =
      *run.mutable_report()->mutable_layers(0)->mutable_counters()->mutable_flops();
  flops.set_value(54);
  flops.clear_reason();
  EXPECT_THAT(RunText(run, {}), testing::Not(HasSubstr("54?")));
  flops.set_quality(v1::QUALITY_SUSPECT);
  flops.set_reason("NOT_CALIBRATED: by nothing");
  EXPECT_THAT(RunText(run, {}), HasSubstr("54?"));
}

TEST(RunText, NamesTheRunnerUpOfEachLayerThatHasOne) {
  v1::Run run = SucceededRun();
  EXPECT_THAT(RunText(run, {}), Not(HasSubstr("runner-up")));
  v1::LayerReport& layer = *run.mutable_report()->mutable_layers(0);
  const auto add = [&](const char* backend, const char* implementation, double median_ns) {
    v1::KernelTiming& tried = *layer.add_kernels_tried();
    tried.set_backend(backend);
    tried.set_implementation(implementation);
    tried.set_median_ns(median_ns);
  };
  add("eigen", "gemm", 2000);
  EXPECT_EQ(RunnerUpText(layer), "");
  add("onednn", "jit", 2500);
  add("reference", "naive", 9000);
  EXPECT_EQ(RunnerUpText(layer), "onednn jit 1.25x");
  EXPECT_THAT(RunText(run, {}), HasSubstr("onednn jit 1.25x"));
  // What ran is not the fastest of them, alone.
  layer.set_backend("onednn");
  layer.set_implementation("jit");
  EXPECT_EQ(RunnerUpText(layer), "eigen gemm 0.80x");
  layer.set_implementation("reorder");
  EXPECT_EQ(RunnerUpText(layer), "");
}

TEST(RunText, NamesEachCount) {
  v1::Run run = SucceededRun();
  v1::Counters& counters = *run.mutable_report()->mutable_counters();
  counters.mutable_instructions()->set_value(82'500);
  counters.mutable_instructions()->clear_reason();
  EXPECT_THAT(RunText(run, {}), HasSubstr("instructions 82.5 k"));
}

// 116 bytes in 1500 ns are 0.077 GB/s, the unit of a layer without FLOPs.
TEST(RunText, ABoundIsThereInAllColumnsOrInNone) {
  v1::Run run = SucceededRun();
  v1::RunReport& report = *run.mutable_report();
  report.mutable_layers()->RemoveLast();
  v1::LayerReport& layer = *report.mutable_layers(0);
  layer.mutable_bound()->clear_flops_per_second();
  EXPECT_THAT(RunText(run, {}), HasSubstr("0.02  0.08 GB/s        50.0  memory (DRAM)"));
  EXPECT_THAT(LayerText(run, {}), HasSubstr("memory (DRAM), 77.3 MB/s, reached 50.0 %"));

  layer.mutable_bound()->clear_label();
  layer.mutable_bound()->clear_limiter();
  layer.mutable_bound()->clear_percent_of_bound();
  layer.mutable_bound()->set_reason("NO_INTEGER_CEILING: none for integers");
  EXPECT_THAT(RunText(run, {}), HasSubstr("0.02    n/a         n/a  n/a "));
  EXPECT_THAT(RunText(run, {}),
              HasSubstr("\nbound: n/a (NO_INTEGER_CEILING: none for integers)\n"));
  EXPECT_THAT(LayerText(run, {}), HasSubstr("n/a (NO_INTEGER_CEILING: none for integers)"));
}

TEST(BoundSummary, SaysWhyThereIsNone) {
  v1::Run run = SucceededRun();
  for (auto& layer : *run.mutable_report()->mutable_layers()) layer.clear_bound();
  EXPECT_THAT(BoundSummary(run.report()), HasSubstr("n/a (NO_ROOFLINE"));
}

}  // namespace
}  // namespace tinyprof::client
