#include "daemon/convert/host.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "daemon/convert/counters.h"

namespace tinyprof {
namespace {

TEST(HostConvertTest, KeepsFactsAndReasons) {
  HostInfo host;
  host.cpu = "Some CPU";
  host.virtualized = true;
  host.memory_bytes = int64_t{1} << 34;
  host.cpu_count = 8;
  host.caches = {{.level = 1, .byte_size = 49152, .line_byte_size = 64, .cpus = {0, 4}}};
  host.unknown["governor"] = "no cpufreq driver";
  const v1::Host message = ToProto(host);
  EXPECT_EQ(message.fingerprint(), Fingerprint(host));
  EXPECT_EQ(message.cpu(), "Some CPU");
  EXPECT_EQ(message.governor(), "");
  EXPECT_EQ(message.unknown().at("governor"), "no cpufreq driver");
  EXPECT_TRUE(message.virtualized());
  EXPECT_EQ(message.memory_bytes(), int64_t{1} << 34);
  EXPECT_EQ(message.cpu_count(), 8);
  ASSERT_EQ(message.caches_size(), 1);
  EXPECT_EQ(message.caches(0).level(), 1);
  EXPECT_EQ(message.caches(0).size_bytes(), 49152);
  EXPECT_EQ(message.caches(0).shared_by_cpus(), 2);
}

TEST(CountersConvertTest, AbsentStaysAbsent) {
  CounterReport report{.backend = "papi", .usable = false, .reason = "NO_PMU: there is none"};
  report.metrics = {{.metric = "flops", .usable = false, .reason = "NO_PMU: there is none"},
                    {.metric = "cycles",
                     .event = "PAPI_TOT_CYC",
                     .formula = "PAPI_TOT_CYC",
                     .usable = true,
                     .quality = Quality::kSuspect,
                     .expected = 0,
                     .measured = 12.5,
                     .reason = "OFF: it counts other work"}};
  const v1::CounterReport message = ToProto(report);
  EXPECT_FALSE(message.usable());
  EXPECT_EQ(message.reason(), "NO_PMU: there is none");
  ASSERT_EQ(message.metrics_size(), 2);
  EXPECT_FALSE(message.metrics(0).has_expected());
  EXPECT_FALSE(message.metrics(0).has_measured());
  EXPECT_EQ(message.metrics(0).quality(), "");
  ASSERT_TRUE(message.metrics(1).has_expected()) << "zero is a value";
  EXPECT_EQ(message.metrics(1).expected(), 0);
  EXPECT_EQ(message.metrics(1).measured(), 12.5);
  EXPECT_EQ(message.metrics(1).quality(), "suspect");
}

TEST(CountersConvertTest, AReportComesBackAsItWas) {
  v1::CounterReport message;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    backend: "papi" pmu: "spr" usable: true
    metrics { metric: "flops" event: "A" formula: "A + 2*B" usable: true quality: "exact"
              expected: 8 measured: 8 note: "an FMA counts as two operations" }
    metrics { metric: "cycles" event: "C" formula: "estimate: C" usable: true quality: "suspect"
              expected: 0 measured: 0.5 reason: "IMPLAUSIBLE: it counts other work" }
    metrics { metric: "l3_misses" reason: "EVENT_NOT_ON_CPU: there is none" }
    trust {
      rows { loop: "avx2_fma_float32" metric: "flops" formula: "A + 2*B" iterations: 1000
             expected_low: 8 expected: 8 expected_high: 8 measured: 8 spread: 0 quality: "exact" }
      rows { loop: "load_l2" metric: "l1d_misses" formula: "D" iterations: 10
             expected_low: 1 expected: 2 expected_high: 3 reason: "NO_TIME: it ran out" }
      rows { loop: "find_out" metric: "flops" formula: "A" iterations: 10 measured: 4 spread: 1 }
      elapsed_ns: 5e8 complete: true
    })",
                                                            &message));
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(ToProto(FromProto(message)), message));
  const CounterReport report = FromProto(message);
  EXPECT_EQ(report.metrics[0].quality, Quality::kExact);
  EXPECT_EQ(report.metrics[2].quality, std::nullopt);
  EXPECT_EQ(report.metrics[2].measured, std::nullopt);
  EXPECT_EQ(report.trust.rows[1].expected, (Expectation{1, 2, 3}));
  EXPECT_EQ(report.trust.rows[2].expected, std::nullopt);
}

TEST(CountersConvertTest, AnUnknownQualityIsNone) {
  v1::CounterReport message;
  message.add_metrics()->set_quality("splendid");
  EXPECT_EQ(FromProto(message).metrics[0].quality, std::nullopt);
}

TEST(CountersConvertTest, KeepsTheStateOfACheck) {
  EXPECT_EQ(ToProto(DiagnosticCheck{.state = CheckState::kOk}).state(), v1::CHECK_STATE_OK);
  EXPECT_EQ(ToProto(DiagnosticCheck{.state = CheckState::kWarn}).state(), v1::CHECK_STATE_WARN);
  const v1::Check check = ToProto(DiagnosticCheck{
      .name = "n", .state = CheckState::kFail, .found = "f", .why = "w", .fix = "x"});
  EXPECT_EQ(check.state(), v1::CHECK_STATE_FAIL);
  EXPECT_EQ(check.name() + check.found() + check.why() + check.fix(), "nfwx");
}

}  // namespace
}  // namespace tinyprof
