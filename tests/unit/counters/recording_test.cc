#include "daemon/counters/calibration/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fake_cpu.h"

namespace tinyprof {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kExample =
    "tinyprof counter recording 1\n"
    "cpu A CPU of This Test @ 2.10GHz\n"
    "microcode 0x2006e05\n"
    "kernel 6.1.0-18-amd64\n"
    "pmu skx\n"
    "# written by hand\n"
    "loop add add single 256 bits 8 lanes 8 active 8 arithmetic 10 instructions 0 loads 1 branches "
    "registers random\n"
    "loop walk load single 0 bits 0 lanes 0 active 0 arithmetic 3 instructions 1 loads 1 branches "
    "dram random\n"
    "metric cycles C\n"
    "count add 1000 10000 10000 10000\n"
    "count walk 1000 300000 300000 300000\n"
    "metric flops 4*A + 8*B\n"
    "count add 1000 64000 64000 64001\n"
    "metric stall_cycles S\n"
    "count add 1000 5\n"
    "count walk 1000 250000\n"
    "metric l3_misses M\n"
    "count walk 1000 lost COUNTERS_LOST: the kernel took the counter\n"
    "expect flops good\n"
    "expect l3_misses absent\n";

TEST(ParseRecording, ReadsWhatTheFormatSays) {
  const Result<Recording> recording = ParseRecording(kExample);
  ASSERT_TRUE(recording.has_value()) << recording.error().message;
  EXPECT_EQ(recording->cpu, "A CPU of This Test @ 2.10GHz");
  EXPECT_EQ(recording->microcode, "0x2006e05");
  EXPECT_EQ(recording->kernel, "6.1.0-18-amd64");
  EXPECT_EQ(recording->pmu, "skx");
  ASSERT_EQ(recording->metrics.size(), 4U);
  EXPECT_EQ(recording->metrics[1].formula, "4*A + 8*B");
  const LoopSample& add = recording->metrics[1].samples[0];
  EXPECT_EQ(add.facts, (LoopFacts{.name = "add",
                                  .width_bits = 256,
                                  .lanes = 8,
                                  .active_lanes = 8,
                                  .arithmetic = 8,
                                  .instructions = 10}));
  EXPECT_EQ(add.counts, (std::vector<double>{64000, 64000, 64001}));
  EXPECT_EQ(recording->metrics[3].samples[0].lost_reason,
            "COUNTERS_LOST: the kernel took the counter");
  EXPECT_EQ(recording->expected.at(Metric::kFlops), "good");
}

TEST(JudgeRecording, VerdictsAreThoseOfTheCountsAndStallsGoByTheRecordedCycles) {
  const Result<Recording> recording = ParseRecording(kExample);
  ASSERT_TRUE(recording.has_value());
  const std::vector<MetricVerdict> verdicts = JudgeRecording(*recording);
  ASSERT_EQ(verdicts.size(), 4U);
  EXPECT_EQ(verdicts[0].quality, Quality::kGood);
  EXPECT_EQ(verdicts[1].quality, Quality::kGood);  // one repeat differs
  EXPECT_EQ(verdicts[2].quality, Quality::kGood);
  EXPECT_EQ(verdicts[2].rows[1].expected, (Expectation{75'000, 300'000, 360'000}));
  EXPECT_EQ(verdicts[3].quality, std::nullopt);
  EXPECT_EQ(verdicts[3].reason, "COUNTERS_LOST: the kernel took the counter");
}

TEST(FormatRecording, IsReadBackAsItWas) {
  Result<Recording> recording = ParseRecording(kExample);
  ASSERT_TRUE(recording.has_value());
  const std::string text = FormatRecording(*recording);
  const Result<Recording> again = ParseRecording(text);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(FormatRecording(*again), text);
  EXPECT_EQ(again->metrics[1].samples[0].facts, recording->metrics[1].samples[0].facts);
  EXPECT_EQ(again->metrics[1].samples[0].counts, recording->metrics[1].samples[0].counts);
  EXPECT_EQ(again->metrics[3].samples[0].lost_reason, recording->metrics[3].samples[0].lost_reason);
  EXPECT_EQ(again->kernel, recording->kernel);
  // A verdict that must be is a person's to write.
  EXPECT_THAT(text, Not(HasSubstr("expect")));
}

TEST(ParseRecording, SaysWhichLineCannotBeRead) {
  const auto line = [](const std::string& text) {
    const Result<Recording> recording = ParseRecording(text);
    return recording.has_value() ? "none" : recording.error().metadata.at("line");
  };
  const std::string header = "tinyprof counter recording 1\n";
  const std::string loop =
      "loop a add single 256 bits 8 lanes 8 active 8 arithmetic 10 instructions 0 loads 1 branches "
      "registers random\n";
  EXPECT_EQ(line(""), "1");
  EXPECT_EQ(line("tinyprof counter recording 2\n"), "1");
  EXPECT_EQ(line(header), "none");
  EXPECT_EQ(line(header + "size 3\n"), "2");
  EXPECT_EQ(line(header + loop + loop), "3");  // twice
  EXPECT_EQ(line(header + "loop a add half 256 bits\n"), "2");
  EXPECT_EQ(line(header + "loop a jump" + loop.substr(10)), "2");
  EXPECT_EQ(line(header + "metric speed A\n"), "2");
  EXPECT_EQ(line(header + "metric flops 4*\n"), "2");
  EXPECT_EQ(line(header + loop + "count a 1000 5\n"), "3");  // of no metric
  const std::string metric = header + loop + "metric flops A\n";
  EXPECT_EQ(line(metric + "count a 1000 5\n"), "none");
  EXPECT_EQ(line(metric + "count b 1000 5\n"), "4");  // of no loop
  EXPECT_EQ(line(metric + "count a 0 5\n"), "4");
  EXPECT_EQ(line(metric + "count a 1000\n"), "4");
  EXPECT_EQ(line(metric + "count a 1000 5 x\n"), "4");
  EXPECT_EQ(line(metric + "count a 1000 lost\n"), "4");
  EXPECT_EQ(line(metric + "expect flops fine\n"), "4");
  EXPECT_EQ(line(metric + "expect flops good\nexpect flops good\n"), "5");
}

TEST(RecordedCpus, AreJudgedAsAPersonFoundThemToBe) {
  int recordings = 0;
  for (const auto& file : std::filesystem::directory_iterator(TINYPROF_RECORDED_CPUS)) {
    if (file.path().extension() != ".txt") {
      continue;
    }
    ++recordings;
    std::ifstream stream(file.path());
    const std::string text((std::istreambuf_iterator<char>(stream)),
                           std::istreambuf_iterator<char>());
    const Result<Recording> recording = ParseRecording(text);
    ASSERT_TRUE(recording.has_value()) << file.path() << ": " << recording.error().message;
    EXPECT_THAT(recording->expected, Not(IsEmpty())) << file.path() << " says nothing of verdicts";
    const std::vector<MetricVerdict> verdicts = JudgeRecording(*recording);
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const auto expected = recording->expected.find(recording->metrics[i].metric);
      if (expected != recording->expected.end()) {
        EXPECT_EQ(verdicts[i].quality.has_value() ? Name(*verdicts[i].quality) : "absent",
                  expected->second)
            << file.path() << " " << Name(recording->metrics[i].metric) << " "
            << verdicts[i].reason;
      }
    }
  }
  if (recordings == 0) {
    GTEST_SKIP() << "nobody has recorded a CPU yet: " << TINYPROF_RECORDED_CPUS
                 << " holds none (tests/unit/counters/recorded/README.md says how to)";
  }
}

}  // namespace
}  // namespace tinyprof
