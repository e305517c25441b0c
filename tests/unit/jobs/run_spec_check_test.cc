#include "daemon/jobs/run_spec_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/ops/onednn_kernels.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;

constexpr RunLimits kLimits{.max_threads = 4, .max_timeout = std::chrono::seconds(60)};

v1::RunSpec Spec() {
  v1::RunSpec spec;
  spec.mutable_model()->set_text("mlp");
  return spec;
}

std::string ReasonOf(const v1::RunSpec& spec) {
  const auto checked = CheckRunSpec(spec, kLimits);
  return checked.has_value() ? "" : checked.error().reason;
}

TEST(RunSpecCheckTest, WritesDefaultsOut) {
  const auto checked = CheckRunSpec(Spec(), kLimits);
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_EQ(checked->model().batch(), 1);
  EXPECT_EQ(checked->model().seed(), 1u);
  EXPECT_EQ(checked->backend(), v1::BACKEND_EIGEN);
  EXPECT_EQ(checked->isa(), Name(HostIsas().back()));
  EXPECT_EQ(checked->threads(), 1);
  EXPECT_EQ(checked->conv_algorithm(), v1::CONV_ALGORITHM_DIRECT);
  EXPECT_EQ(checked->cache(), v1::CACHE_MODE_WARM);
  EXPECT_EQ(checked->counters(), v1::COUNTER_MODE_AUTO);
  EXPECT_EQ(checked->precision(), 0.01);
  EXPECT_EQ(checked->time_budget().seconds(), 10);
  EXPECT_EQ(checked->timeout().seconds(), 60);
}

TEST(RunSpecCheckTest, CheckingTwiceChangesNothing) {
  const auto once = CheckRunSpec(Spec(), kLimits);
  const auto twice = CheckRunSpec(*once, kLimits);
  EXPECT_EQ(twice->SerializeAsString(), once->SerializeAsString());
}

TEST(RunSpecCheckTest, ThreadsAreOneToTheMeasurementCpus) {
  v1::RunSpec spec = Spec();
  for (const int threads : {-1, 5, std::numeric_limits<int>::max()}) {
    spec.set_threads(threads);
    EXPECT_EQ(ReasonOf(spec), "BAD_THREADS") << threads;
  }
  spec.set_threads(4);
  EXPECT_EQ(ReasonOf(spec), "");
}

TEST(RunSpecCheckTest, PrecisionIsAShare) {
  v1::RunSpec spec = Spec();
  for (const double precision : {-0.1, 0.00001, 1.5, std::nan(""), HUGE_VAL}) {
    spec.set_precision(precision);
    EXPECT_EQ(ReasonOf(spec), "BAD_PRECISION") << precision;
  }
  spec.set_precision(0.0001);
  EXPECT_EQ(ReasonOf(spec), "");
}

TEST(RunSpecCheckTest, TimeBudgetIsAboveZeroAndAtMostAnHour) {
  v1::RunSpec spec = Spec();
  spec.mutable_time_budget();
  EXPECT_EQ(ReasonOf(spec), "BAD_TIME_BUDGET");
  for (const int64_t seconds : {int64_t{-1}, int64_t{3601}, INT64_MAX, INT64_MIN}) {
    spec.mutable_time_budget()->set_seconds(seconds);
    EXPECT_EQ(ReasonOf(spec), "BAD_TIME_BUDGET") << seconds;
  }
  spec.mutable_time_budget()->set_seconds(1);
  spec.mutable_time_budget()->set_nanos(-1);
  EXPECT_EQ(ReasonOf(spec), "BAD_TIME_BUDGET") << "signs differ";
  spec.mutable_time_budget()->set_nanos(0);
  spec.mutable_time_budget()->set_seconds(3600);
  EXPECT_TRUE(CheckRunSpec(spec, {.max_timeout = std::chrono::hours(2)}).has_value());
}

TEST(RunSpecCheckTest, ABudgetThatLeavesNoTimeToLoadIsRefused) {
  v1::RunSpec spec = Spec();
  spec.mutable_time_budget()->set_seconds(60);
  const Result<v1::RunSpec> at_the_longest = CheckRunSpec(spec, kLimits);
  ASSERT_FALSE(at_the_longest.has_value());
  EXPECT_EQ(at_the_longest.error().reason, "BAD_TIME_BUDGET");
  EXPECT_THAT(at_the_longest.error().message,
              HasSubstr("below the --timeout of 60 s (max_run_time of tinyprofd"));
  spec.mutable_time_budget()->set_seconds(59);
  EXPECT_TRUE(CheckRunSpec(spec, kLimits).has_value());
  spec.mutable_timeout()->set_seconds(20);
  EXPECT_EQ(CheckRunSpec(spec, kLimits).error().message,
            "--time-budget is 59 s and must be below the --timeout of 20 s");
}

TEST(RunSpecCheckTest, TheDefaultBudgetIsHalfOfAShortTimeout) {
  v1::RunSpec spec = Spec();
  spec.mutable_timeout()->set_seconds(5);
  const Result<v1::RunSpec> checked = CheckRunSpec(spec, kLimits);
  EXPECT_EQ(checked->time_budget().seconds(), 2);
  EXPECT_EQ(checked->time_budget().nanos(), 500'000'000);
}

TEST(RunSpecCheckTest, TimeoutIsCapped) {
  v1::RunSpec spec = Spec();
  spec.mutable_timeout()->set_seconds(5);
  EXPECT_EQ(CheckRunSpec(spec, kLimits)->timeout().seconds(), 5);
  spec.mutable_timeout()->set_seconds(1'000'000);
  EXPECT_EQ(CheckRunSpec(spec, kLimits)->timeout().seconds(), 60);
  spec.mutable_timeout()->set_seconds(0);
  EXPECT_EQ(ReasonOf(spec), "BAD_TIMEOUT");
}

TEST(RunSpecCheckTest, ATimeoutNobodyCanWaitForIsTooLarge) {
  v1::RunSpec spec = Spec();
  spec.mutable_timeout()->set_seconds(INT64_MAX);
  EXPECT_EQ(ReasonOf(spec), "BAD_TIMEOUT");
  EXPECT_THAT(CheckRunSpec(spec, kLimits).error().message, HasSubstr("at most 100 years"));
}

TEST(RunSpecCheckTest, OneCpuIsNoRangeOfThreads) {
  v1::RunSpec spec = Spec();
  spec.set_threads(2);
  const auto checked = CheckRunSpec(spec, {.max_threads = 1});
  EXPECT_EQ(checked.error().reason, "BAD_THREADS");
  EXPECT_EQ(checked.error().message,
            "--threads is 2 and must be 1, since this daemon measures on 1 CPU (`tinyprofd --cpus "
            "0-1` would give it more)");
}

TEST(RunSpecCheckTest, OnlyOnednnHasMoreThanOneConvolution) {
  v1::RunSpec spec = Spec();
  for (const auto backend : {v1::BACKEND_UNSPECIFIED, v1::BACKEND_EIGEN, v1::BACKEND_REFERENCE}) {
    spec.set_backend(backend);
    for (const auto algorithm : {v1::CONV_ALGORITHM_WINOGRAD, v1::CONV_ALGORITHM_AUTO}) {
      spec.set_conv_algorithm(algorithm);
      EXPECT_EQ(ReasonOf(spec), "BAD_CONV_ALGORITHM");
    }
    spec.set_conv_algorithm(v1::CONV_ALGORITHM_DIRECT);
    EXPECT_EQ(ReasonOf(spec), "");
  }
}

TEST(RunSpecCheckTest, ATextThatIsTooLongIsSaidToBeSo) {
  v1::RunSpec spec = Spec();
  spec.mutable_model()->set_text(std::string(65'537, 'x'));
  EXPECT_THAT(CheckRunSpec(spec, kLimits).error().message,
              HasSubstr("65537 bytes long and must be 1 to 65536 bytes long"));
}

TEST(RunSpecCheckTest, OnednnIsRefusedLargerTeamsThanItKeeps) {
  if (!CheckOnednnIsBuilt().has_value()) GTEST_SKIP() << "this build has no oneDNN";
  v1::RunSpec spec = Spec();
  spec.set_backend(v1::BACKEND_ONEDNN);
  spec.set_threads(2);
  EXPECT_EQ(ReasonOf(spec), "");
  spec.set_threads(3);
  EXPECT_EQ(ReasonOf(spec), "BAD_THREADS");
}

TEST(RunSpecCheckTest, OnednnIsRefusedWhereTheBuildHasNone) {
  v1::RunSpec spec = Spec();
  spec.set_backend(v1::BACKEND_ONEDNN);
  EXPECT_EQ(ReasonOf(spec), CheckOnednnIsBuilt().has_value() ? "" : "NO_ONEDNN");
}

// Who is refused has typed flags; a program finds the field in the metadata.
TEST(RunSpecCheckTest, RefusalsNameFlagsAndTheirValues) {
  v1::RunSpec spec = Spec();
  spec.set_conv_algorithm(v1::CONV_ALGORITHM_WINOGRAD);
  const Error refused = CheckRunSpec(spec, kLimits).error();
  EXPECT_EQ(refused.message,
            "--conv-algorithm is winograd and must be direct, unless --backend is onednn or best");
  EXPECT_EQ(refused.metadata.at("field"), "conv_algorithm");
  v1::VerifySpec verify;
  *verify.mutable_model() = spec.model();
  verify.set_conv_algorithm(v1::CONV_ALGORITHM_AUTO);
  EXPECT_THAT(CheckVerifySpec(verify, 1).error().message,
              HasSubstr("--conv-algorithm is auto and must be direct"));
  spec = Spec();
  spec.set_precision(2);
  EXPECT_EQ(CheckRunSpec(spec, kLimits).error().message,
            "--precision is 200 % and must be 0.01 % to 100 %");
  spec = Spec();
  spec.set_cache(static_cast<v1::CacheMode>(9));
  EXPECT_EQ(CheckRunSpec(spec, kLimits).error().message, "--cache is 9 and must be warm or cold");
  spec = Spec();
  spec.mutable_model()->add_inputs()->add_dims(0);
  EXPECT_EQ(CheckRunSpec(spec, kLimits).error().message,
            "a dimension of an --input is 0 and must be 1 or more");
}

TEST(RunSpecCheckTest, RefusesNumbersThatAreNoEnumerator) {
  v1::RunSpec spec = Spec();
  spec.set_backend(static_cast<v1::Backend>(77));
  EXPECT_EQ(ReasonOf(spec), "BAD_BACKEND");
  spec = Spec();
  spec.set_cache(static_cast<v1::CacheMode>(-1));
  EXPECT_EQ(ReasonOf(spec), "BAD_CACHE_MODE");
  spec = Spec();
  spec.set_conv_algorithm(static_cast<v1::ConvAlgorithm>(4));
  EXPECT_EQ(ReasonOf(spec), "BAD_CONV_ALGORITHM");
  spec = Spec();
  spec.set_counters(static_cast<v1::CounterMode>(9));
  EXPECT_EQ(ReasonOf(spec), "BAD_COUNTER_MODE");
}

TEST(RunSpecCheckTest, RefusesModelsOutOfRange) {
  v1::RunSpec spec = Spec();
  spec.mutable_model()->set_text(std::string(65'537, 'x'));
  EXPECT_EQ(ReasonOf(spec), "BAD_MODEL");
  spec = Spec();
  spec.mutable_model()->set_batch(-1);
  EXPECT_EQ(ReasonOf(spec), "BAD_BATCH");
  spec.mutable_model()->set_batch(65'537);
  EXPECT_EQ(ReasonOf(spec), "BAD_BATCH");
}

TEST(RunSpecCheckTest, InputsAreFewAndTheirDimensionsPositive) {
  v1::RunSpec spec = Spec();
  for (int i = 0; i < 16; ++i) spec.mutable_model()->add_inputs()->add_dims(1);
  for (int i = 1; i < 16; ++i) spec.mutable_model()->mutable_inputs(0)->add_dims(1);
  EXPECT_EQ(ReasonOf(spec), "");
  v1::RunSpec deep = spec;
  deep.mutable_model()->mutable_inputs(0)->add_dims(1);
  EXPECT_EQ(ReasonOf(deep), "BAD_INPUT") << "17 dimensions";
  for (const int64_t dim : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    v1::RunSpec bad = spec;
    bad.mutable_model()->mutable_inputs(15)->set_dims(0, dim);
    EXPECT_EQ(ReasonOf(bad), "BAD_INPUT") << dim;
  }
  while (spec.model().inputs_size() < 64) spec.mutable_model()->add_inputs()->add_dims(1);
  EXPECT_EQ(ReasonOf(spec), "");
  spec.mutable_model()->add_inputs()->add_dims(1);
  EXPECT_EQ(ReasonOf(spec), "BAD_INPUT") << "65 inputs";
}

TEST(RunSpecCheckTest, RefusesAnUnknownIsa) {
  v1::RunSpec spec = Spec();
  spec.set_isa("mmx");
  EXPECT_EQ(ReasonOf(spec), "UNKNOWN_ISA");
}

TEST(ModelSizeTest, ParametersAndActivationsMustFit) {
  v1::ModelAnalysis analysis;
  analysis.set_parameter_bytes(60);
  analysis.set_activation_peak_bytes(40);
  EXPECT_TRUE(CheckModelSize(analysis, 100).has_value());
  const Status refused = CheckModelSize(analysis, 99);
  EXPECT_EQ(refused.error().reason, "MODEL_TOO_LARGE");
  EXPECT_EQ(refused.error().metadata.at("bytes"), "100");
  EXPECT_EQ(refused.error().metadata.at("limit"), "99");
  analysis.set_parameter_bytes(INT64_MAX);
  EXPECT_EQ(CheckModelSize(analysis, INT64_MAX).error().reason, "OVERFLOW");
}

}  // namespace
}  // namespace tinyprof
