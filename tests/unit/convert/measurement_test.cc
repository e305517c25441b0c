#include "daemon/convert/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "daemon/convert/model_spec.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(QuantityConvertTest, PresentValueKeepsItsOrigin) {
  const v1::Quantity message = ToProto(Quantity{.value = 0,
                                                .unit = "flop",
                                                .source = Source::kSimulated,
                                                .quality = Quality::kExact,
                                                .reason = "",
                                                .formula = "A + B",
                                                .note = "of all"});
  ASSERT_TRUE(message.has_value()) << "zero is a value";
  EXPECT_EQ(message.value(), 0);
  EXPECT_EQ(message.unit(), "flop");
  EXPECT_EQ(message.source(), v1::SOURCE_SIMULATED);
  EXPECT_EQ(message.quality(), v1::QUALITY_EXACT);
  EXPECT_EQ(message.formula(), "A + B");
  EXPECT_EQ(message.note(), "of all");
}

TEST(QuantityConvertTest, AbsentValueKeepsItsReason) {
  const v1::Quantity message = ToProto(Quantity::Absent("byte", Source::kPapi, "NO_EVENT: none"));
  EXPECT_FALSE(message.has_value());
  EXPECT_EQ(message.source(), v1::SOURCE_PAPI);
  EXPECT_EQ(message.quality(), v1::QUALITY_UNSPECIFIED);
  EXPECT_EQ(message.reason(), "NO_EVENT: none");
}

TEST(QuantityConvertTest, WhatIsNoNumberIsAbsent) {
  for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    const v1::Quantity message = ToProto(Quantity{.value = value,
                                                  .unit = "byte",
                                                  .source = Source::kDerived,
                                                  .quality = Quality::kGood,
                                                  .reason = "",
                                                  .formula = "A / B",
                                                  .note = ""});
    EXPECT_FALSE(message.has_value());
    EXPECT_EQ(message.quality(), v1::QUALITY_UNSPECIFIED);
    EXPECT_THAT(message.reason(), StartsWith("IMPLAUSIBLE: A / B gives no finite number"));
  }
}

TEST(MeasureOptionsTest, FollowTheSpec) {
  v1::RunSpec spec;
  spec.set_threads(2);
  spec.set_precision(0.02);
  spec.mutable_time_budget()->set_seconds(3);
  spec.mutable_time_budget()->set_nanos(5);
  MeasureOptions options = MeasureOptionsOf(spec, {4, 6});
  EXPECT_EQ(options.threads, 2);
  EXPECT_THAT(options.cpus, ElementsAre(4, 6));
  EXPECT_EQ(options.cache, CacheMode::kWarm);
  EXPECT_EQ(options.counters, CounterMode::kAuto);
  EXPECT_EQ(options.precision, 0.02);
  EXPECT_EQ(options.time_budget_ns, 3'000'000'005);
  spec.set_cache(v1::CACHE_MODE_COLD);
  spec.set_counters(v1::COUNTER_MODE_PAPI);
  options = MeasureOptionsOf(spec, {4, 6});
  EXPECT_EQ(options.cache, CacheMode::kCold);
  EXPECT_EQ(options.counters, CounterMode::kPapi);
  spec.set_counters(v1::COUNTER_MODE_NONE);
  EXPECT_EQ(MeasureOptionsOf(spec, {4, 6}).counters, CounterMode::kNone);
}

TEST(BackendConvertTest, UnspecifiedIsEigen) {
  EXPECT_EQ(FromProto(v1::BACKEND_UNSPECIFIED), Backend::kEigen);
  EXPECT_EQ(FromProto(v1::BACKEND_EIGEN), Backend::kEigen);
  EXPECT_EQ(FromProto(v1::BACKEND_REFERENCE), Backend::kReference);
}

TEST(TimeStatsConvertTest, KeepsEveryFigureInItsPlace) {
  const v1::TimeStats message = ToProto(TimeStats{.median_ns = 1,
                                                  .mad_ns = 2,
                                                  .min_ns = 3,
                                                  .p90_ns = 4,
                                                  .p95_ns = 5,
                                                  .p99_ns = 6,
                                                  .ci_low_ns = 7,
                                                  .ci_high_ns = 8,
                                                  .n = 9,
                                                  .outliers = 10,
                                                  .first_pass_ns = 11,
                                                  .trimmed_mean_ns = 12});
  EXPECT_THAT((std::vector<double>{message.median_ns(), message.mad_ns(), message.min_ns(),
                                   message.p90_ns(), message.p95_ns(), message.p99_ns(),
                                   message.ci_low_ns(), message.ci_high_ns()}),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(message.n(), 9);
  EXPECT_EQ(message.outliers(), 10);
  EXPECT_EQ(message.first_pass_ns(), 11);
  EXPECT_EQ(message.trimmed_mean_ns(), 12);
}

// Two ReLUs in a row on 256 floats: three activations of 1 KiB, of which two live at a time.
TEST(AddMeasurementTest, JoinsLayersWithWhatWasMeasuredOfThem) {
  v1::ModelSpec spec;
  spec.set_text("relu; relu");
  spec.add_inputs()->add_dims(256);
  const Result<Graph> graph = BuildGraph(spec, -1);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const auto session = Session::Create(*graph, {.backend = Backend::kReference});
  ASSERT_TRUE(session.has_value()) << session.error().message;

  RunMeasurement measured;
  measured.layers.resize(2);
  measured.layers[0].time.median_ns = 10;
  measured.layers[1].time.median_ns = 20;
  measured.layers[1].counters.flops = {.value = 256, .unit = "flop", .quality = Quality::kGood};
  measured.time.median_ns = 31;
  measured.unattributed_ns = 1;
  measured.dispatch_cost = {.alone_ns = 45, .team_ns = 2'000};
  measured.passes.timing = 12;
  measured.warnings = {"a sentence"};
  measured.stopped_by = "budget";
  v1::RunReport report;
  report.add_warnings("an earlier one");
  report.add_layers();
  report.add_layers();
  AddMeasurement(**session, measured, report);

  EXPECT_EQ(report.layers(0).time().median_ns(), 10);
  EXPECT_EQ(report.layers(1).time().median_ns(), 20);
  EXPECT_FALSE(report.layers(0).counters().flops().has_value());
  EXPECT_EQ(report.layers(1).counters().flops().value(), 256);
  EXPECT_NE(report.layers(0).implementation(), "");
  EXPECT_EQ(report.layers(0).backend(), "reference");
  EXPECT_EQ(report.layers(0).memory().packed_weight_bytes(), 0);
  EXPECT_EQ(report.memory().packed_weight_bytes(), 0);
  EXPECT_GE(report.layers(0).memory().activation_bytes(), 2 * 1024) << "its input and its output";
  EXPECT_LE(report.layers(0).memory().peak_bytes(), report.layers(1).memory().peak_bytes());
  EXPECT_GE(report.memory().peak_bytes(), report.memory().activation_bytes());
  EXPECT_EQ(report.overhead().unattributed_ns(), 1);
  EXPECT_EQ(report.overhead().dispatch_ns(), 45);
  EXPECT_EQ(report.overhead().team_dispatch_ns(), 2'000);
  EXPECT_EQ(report.passes().timing(), 12);
  EXPECT_FALSE(report.machine().has_steal_ns());
  EXPECT_FALSE(report.machine().has_ping_pong_before_ns());
  EXPECT_THAT(report.warnings(), ElementsAre("an earlier one", "a sentence"));
  EXPECT_EQ(report.stopped_by(), "budget");

  measured.dispatch_cost = {.alone_ns = 45};
  AddMeasurement(**session, measured, report);
  EXPECT_FALSE(report.overhead().has_team_dispatch_ns());
  measured.dispatch_cost.reset();
  AddMeasurement(**session, measured, report);
  EXPECT_FALSE(report.overhead().has_dispatch_ns());
}

}  // namespace
}  // namespace tinyprof
