// The stand-in's rules as text: each word means what stand_in_rules.h says, and what means nothing
// is named by its line. Runs without the stand-in.
#include <errno.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <string>

#include "kernels/base/declared_work.h"
#include "tests/pmu/stand_in_rules.h"

namespace tinyprof::stand_in {
namespace {

Rules Parsed(const std::string& text) {
  Rules rules;
  const char* const bad_line = ParseRules(text.c_str(), rules);
  EXPECT_EQ(bad_line, nullptr) << bad_line;
  return rules;
}

EventRule ParsedEvent(const std::string& line) {
  const Rules rules = Parsed(line);
  EXPECT_EQ(rules.event_count, 1);
  return rules.events[0];
}

Fault ParsedFault(const std::string& line) {
  const Rules rules = Parsed(line);
  EXPECT_EQ(rules.fault_count, 1);
  return rules.faults[0];
}

uint32_t Bit(WorkSignal signal) { return uint32_t{1} << static_cast<int>(signal); }

TEST(StandInRules, NothingIsAMachineOfEightFreeCounters) {
  for (const char* text : {"", "\n\n", "# nothing\n", "   # nothing", " \t \n"}) {
    const Rules rules = Parsed(text);
    EXPECT_EQ(rules.counters, 8);
    EXPECT_EQ(rules.held, 0);
    EXPECT_EQ(rules.paranoid, 2);
    EXPECT_EQ(rules.nmi_watchdog, 0);
    EXPECT_EQ(rules.event_count, 0);
    EXPECT_EQ(rules.fault_count, 0);
  }
}

TEST(StandInRules, TheMachineIsWhatItsLinesSay) {
  const Rules rules =
      Parsed("counters 6\nheld 2 # by another\n\tparanoid -1\nnmi_watchdog\tabsent");
  EXPECT_EQ(rules.counters, 6);
  EXPECT_EQ(rules.held, 2);
  EXPECT_EQ(rules.paranoid, -1);
  EXPECT_EQ(rules.nmi_watchdog, kAbsent);
}

TEST(StandInRules, TheLastLineDecidesAboutTheMachine) {
  EXPECT_EQ(Parsed("counters 6\ncounters 4\n").counters, 4);
}

TEST(StandInRules, ANumberThatBeginsWithZeroIsDecimal) {
  EXPECT_EQ(Parsed("counters 010").counters, 10);
}

TEST(StandInRules, AnEventThatSaysNothingElseReadsZero) {
  const EventRule rule = ParsedEvent("event raw 0xC0");
  EXPECT_EQ(rule.type, PERF_TYPE_RAW);
  EXPECT_EQ(rule.config, 0xc0U);
  EXPECT_EQ(rule.mask, UINT64_MAX);
  EXPECT_EQ(rule.signals, 0U);
  EXPECT_EQ(rule.times, 1);
  EXPECT_EQ(rule.constant, 0);
  EXPECT_EQ(rule.step, 0);
  EXPECT_EQ(rule.start, 0U);
  EXPECT_EQ(rule.wrap_bits, 64);
  EXPECT_EQ(rule.restart_at_read, 0);
  EXPECT_EQ(rule.lose_at_read, 0);
  EXPECT_EQ(rule.cost, 1);
  EXPECT_EQ(rule.refuse_errno, 0);
}

TEST(StandInRules, EveryWordOfAnEventIsTaken) {
  const EventRule rule = ParsedEvent(
      "event hardware 1/0xff refuse EACCES cost 2 lose 8 restart 7 wrap 48 start "
      "0xfffffffffffffffe "
      "step -6 constant 5 times 4 signal cycles+l3_misses");
  EXPECT_EQ(rule.type, PERF_TYPE_HARDWARE);
  EXPECT_EQ(rule.config, 1U);
  EXPECT_EQ(rule.mask, 0xffU);
  EXPECT_EQ(rule.signals, Bit(WorkSignal::kCycles) | Bit(WorkSignal::kL3Misses));
  EXPECT_EQ(rule.times, 4);
  EXPECT_EQ(rule.constant, 5);
  EXPECT_EQ(rule.step, -6);
  EXPECT_EQ(rule.start, UINT64_MAX - 1);
  EXPECT_EQ(rule.wrap_bits, 48);
  EXPECT_EQ(rule.restart_at_read, 7);
  EXPECT_EQ(rule.lose_at_read, 8);
  EXPECT_EQ(rule.cost, 2);
  EXPECT_EQ(rule.refuse_errno, EACCES);
}

TEST(StandInRules, EverySignalIsTheOneOfItsName) {
  const std::pair<const char*, WorkSignal> kSignals[] = {
      {"cycles", WorkSignal::kCycles},
      {"instructions", WorkSignal::kInstructions},
      {"flops", WorkSignal::kFlops},
      {"fp_scalar_single", WorkSignal::kFpScalarSingle},
      {"fp_128_single", WorkSignal::kFp128Single},
      {"fp_256_single", WorkSignal::kFp256Single},
      {"fp_512_single", WorkSignal::kFp512Single},
      {"fp_scalar_double", WorkSignal::kFpScalarDouble},
      {"fp_128_double", WorkSignal::kFp128Double},
      {"fp_256_double", WorkSignal::kFp256Double},
      {"fp_512_double", WorkSignal::kFp512Double},
      {"l1d_misses", WorkSignal::kL1dMisses},
      {"l2_misses", WorkSignal::kL2Misses},
      {"l3_misses", WorkSignal::kL3Misses}};
  EXPECT_EQ(std::size(kSignals), static_cast<size_t>(kWorkSignals));
  for (const auto& [name, signal] : kSignals) {
    EXPECT_EQ(ParsedEvent(std::string("event any * signal ") + name).signals, Bit(signal)) << name;
  }
}

TEST(StandInRules, TheFirstRuleThatMatchesDecides) {
  const Rules rules = Parsed(
      "event raw 0x10c7 constant 1\n"
      "event cache 0x10c7 constant 2\n"
      "event raw 0xc7/0xff constant 3\n"
      "event any 5 constant 4\n"
      "event hardware * constant 5\n");
  const auto constant_of = [&](uint32_t type, uint64_t config) {
    const EventRule* const rule = FindRule(rules, type, config);
    return rule == nullptr ? 0 : rule->constant;
  };
  EXPECT_EQ(constant_of(PERF_TYPE_RAW, 0x10c7), 1);
  EXPECT_EQ(constant_of(PERF_TYPE_HW_CACHE, 0x10c7), 2);
  EXPECT_EQ(constant_of(PERF_TYPE_RAW, 0x20c7), 3);
  EXPECT_EQ(constant_of(PERF_TYPE_RAW, 5), 4);
  EXPECT_EQ(constant_of(PERF_TYPE_HARDWARE, 5), 4);
  EXPECT_EQ(constant_of(PERF_TYPE_HARDWARE, 6), 5);
  EXPECT_EQ(constant_of(PERF_TYPE_RAW, 6), 0);
}

TEST(StandInRules, FaultsAreOfOneCallOrOfAllFromItOn) {
  const Rules rules = Parsed(
      "fail open 3 EMFILE\nfail open 5+ EBUSY\nfail read 2 empty\nfail read 4 short\n"
      "fail enable 1 ENOSPC\nfail disable 1 EIO\nfail reset 1 EINTR\n");
  const auto errno_of = [&](Call call, int64_t number) {
    return FaultOf(rules, call, number).error_number;
  };
  EXPECT_EQ(errno_of(Call::kOpen, 2), 0);
  EXPECT_EQ(errno_of(Call::kOpen, 3), EMFILE);
  EXPECT_EQ(errno_of(Call::kOpen, 4), 0);
  EXPECT_EQ(errno_of(Call::kOpen, 5), EBUSY);
  EXPECT_EQ(errno_of(Call::kOpen, 1'000'000), EBUSY);
  EXPECT_EQ(FaultOf(rules, Call::kRead, 1).outcome, Outcome::kNormal);
  EXPECT_EQ(FaultOf(rules, Call::kRead, 2).outcome, Outcome::kEmpty);
  EXPECT_EQ(FaultOf(rules, Call::kRead, 4).outcome, Outcome::kShort);
  EXPECT_EQ(errno_of(Call::kEnable, 1), ENOSPC);
  EXPECT_EQ(errno_of(Call::kDisable, 1), EIO);
  EXPECT_EQ(errno_of(Call::kReset, 1), EINTR);
}

TEST(StandInRules, AReadCanAlsoFailWithAnErrno) {
  const Fault fault = ParsedFault("fail read 9+ EIO");
  EXPECT_EQ(fault.outcome, Outcome::kErrno);
  EXPECT_EQ(fault.error_number, EIO);
  EXPECT_EQ(fault.first, 9);
  EXPECT_TRUE(fault.repeats);
}

TEST(StandInRules, WhatMeansNothingIsNamedByItsLine) {
  const std::string long_line = "event raw 1" + std::string(600, ' ') + "step 1";
  for (const std::string& line :
       std::initializer_list<std::string>{"speed 7",
                                          "counters",
                                          "counters six",
                                          "counters 6 7",
                                          "counters 6#",
                                          "counters -1",
                                          "counters 100000",
                                          "held -1",
                                          "paranoid none",
                                          "paranoid -2",
                                          "nmi_watchdog 0x",
                                          "event raw",
                                          "event",
                                          "event tracepoint 1",
                                          "event raw minus",
                                          "event raw -1",
                                          "event raw 0x1/",
                                          "event raw /0x1",
                                          "event raw 0x10000000000000000",
                                          "event raw 1 signal",
                                          "event raw 1 signal flop",
                                          "event raw 1 signal flops+",
                                          "event raw 1 signal +flops",
                                          "event raw 1 signal flops++cycles",
                                          "event raw 1 step 1 2",
                                          "event raw 1 start -1",
                                          "event raw 1 step 9223372036854775808",
                                          "event raw 1 wrap 0",
                                          "event raw 1 wrap 65",
                                          "event raw 1 cost -1",
                                          "event raw 1 restart -1",
                                          "event raw 1 lose -1",
                                          "event raw 1 refuse ENOWAY",
                                          "event raw 1 speed 1",
                                          "fail open 1",
                                          "fail close 1 EIO",
                                          "fail open 0 EIO",
                                          "fail open -1 EIO",
                                          "fail open + EIO",
                                          "fail open 1++ EIO",
                                          "fail open 1 empty",
                                          "fail read 1 long",
                                          "fail read 1 EIO EIO"}) {
    Rules rules;
    const char* const bad_line =
        ParseRules(("counters 4\n" + line + "\ncounters 5\n").c_str(), rules);
    ASSERT_NE(bad_line, nullptr) << line;
    EXPECT_EQ(bad_line, line);
  }
  Rules rules;
  const char* const bad_line = ParseRules(long_line.c_str(), rules);
  ASSERT_NE(bad_line, nullptr);
  EXPECT_TRUE(long_line.starts_with(bad_line)) << bad_line;
}

TEST(StandInRules, MoreRulesThanFitAreRefused) {
  const auto lines = [](const std::string& line, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += line + "\n";
    return text;
  };
  Rules rules;
  EXPECT_EQ(ParseRules(lines("event raw 1", kMaxEventRules).c_str(), rules), nullptr);
  EXPECT_NE(ParseRules(lines("event raw 1", kMaxEventRules + 1).c_str(), rules), nullptr);
  EXPECT_EQ(ParseRules(lines("fail read 1 EIO", kMaxFaults).c_str(), rules), nullptr);
  EXPECT_NE(ParseRules(lines("fail read 1 EIO", kMaxFaults + 1).c_str(), rules), nullptr);
}

}  // namespace
}  // namespace tinyprof::stand_in
