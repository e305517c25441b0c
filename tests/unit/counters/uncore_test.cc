#include "daemon/counters/perf/uncore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/counters/system_facts.h"
#include "fake_perf_calls.h"
#include "machine_with_uncore.h"

namespace tinyprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::map<std::string, std::string> kFormats = {
    {"event", "config:0-7"},       {"umask", "config:8-15"},
    {"edge", "config:18"},         {"wide", "config:0-7,32-35"},
    {"mask", "config1:4-7"},       {"far", "config2:0-63"},
    {"nonsense", "registers:0-7"}, {"empty", ""},
    {"turned", "config:7-0"},      {"beyond", "config:60-64"}};

TEST(EncodeUncoreEvent, PutsTermsWhereTheFormatsSay) {
  const auto config = [](std::string_view terms) {
    return EncodeUncoreEvent(terms, kFormats).value().config;
  };
  EXPECT_EQ(config("event=0x04,umask=0x03"), 0x0304U);
  EXPECT_EQ(config("event=4"), 4U);
  EXPECT_EQ(config("event=0x04,edge"), 0x40004U);
  EXPECT_EQ(config("wide=0x50a"), 0x50000000aU);  // bits 8 to 11 go to bits 32 to 35
  EXPECT_EQ(EncodeUncoreEvent("mask=0xf", kFormats)->config1, 0xf0U);
  EXPECT_EQ(EncodeUncoreEvent("far=0xffffffffffffffff", kFormats)->config2, ~uint64_t{0});
}

TEST(EncodeUncoreEvent, RefusesWhatItCannotPlace) {
  for (const char* terms :
       {"", "event=0x100", "unknown=1", "event=0xg", "event=-1", "nonsense=1", "empty=1",
        "turned=1", "beyond=1", "event=1,,umask=1", "mask=0x10", "event=0x"}) {
    const Result<UncoreEvent> event = EncodeUncoreEvent(terms, kFormats);
    ASSERT_FALSE(event.has_value()) << terms;
    EXPECT_EQ(event.error().reason, "BAD_UNCORE_EVENT") << terms;
  }
}

TEST(BytesPerCount, KnowsTheKernelsUnits) {
  EXPECT_DOUBLE_EQ(BytesPerCount("6.103515625e-5", "MiB").value(), 64);
  EXPECT_DOUBLE_EQ(BytesPerCount("32", "Bytes").value(), 32);
  for (const auto& [scale, unit] : std::map<std::string, std::string>{{"", "MiB"},
                                                                      {"1", ""},
                                                                      {"2", "Joules"},
                                                                      {"x", "MiB"},
                                                                      {"0", "MiB"},
                                                                      {"-1", "MiB"},
                                                                      {"inf", "MiB"},
                                                                      {"-inf", "MiB"},
                                                                      {"nan", "MiB"},
                                                                      {"1e308", "MiB"},
                                                                      {"1e308", "Bytes"},
                                                                      {"1e999", "Bytes"},
                                                                      {"1e-320", "MiB"},
                                                                      {"2", "MiB"}}) {
    const Result<double> bytes = BytesPerCount(scale, unit);
    ASSERT_FALSE(bytes.has_value()) << scale << unit;
    EXPECT_EQ(bytes.error().reason, "BAD_UNCORE_EVENT");
  }
}

TEST(FindMemoryPmus, ReadsIntelsChannelsAndSockets) {
  MachineWithUncore machine;
  machine.AddIntelChannel("uncore_imc_0", 14, "0,28");
  machine.AddIntelChannel("uncore_imc_1", 15, "0,28");
  machine.Write("sys/bus/event_source/devices/uncore_upi_0/type", "20\n");
  machine.Write("sys/bus/event_source/devices/cpu/type", "4\n");
  const auto pmus = FindMemoryPmus(machine.root());
  ASSERT_TRUE(pmus.has_value()) << pmus.error().message;
  ASSERT_EQ(pmus->size(), 2U);
  EXPECT_EQ((*pmus)[0].name, "uncore_imc_0");
  EXPECT_EQ((*pmus)[1].type, 15U);
  EXPECT_THAT((*pmus)[0].cpus, ElementsAre(0, 28));
  ASSERT_EQ((*pmus)[0].reads.size(), 1U);
  EXPECT_EQ((*pmus)[0].reads[0].config, 0x0304U);
  EXPECT_EQ((*pmus)[0].writes[0].config, 0x0c04U);
  EXPECT_DOUBLE_EQ((*pmus)[0].writes[0].bytes_per_count, 64);
}

TEST(FindMemoryPmus, AddsUpBothSchedulersOfAChannel) {
  MachineWithUncore machine;
  machine.AddIntelChannel("uncore_imc_0", 14, "0", "cas_count_read_sch0", "cas_count_write_sch0");
  machine.AddIntelChannel("uncore_imc_0", 14, "0", "cas_count_read_sch1", "cas_count_write_sch1");
  const auto pmus = FindMemoryPmus(machine.root());
  ASSERT_TRUE(pmus.has_value()) << pmus.error().message;
  EXPECT_EQ((*pmus)[0].reads.size(), 2U);
  EXPECT_EQ((*pmus)[0].writes.size(), 2U);
}

TEST(FindMemoryPmus, FreeRunningCountersAreUsedOnlyWhereThereAreNoOthers) {
  MachineWithUncore machine;
  machine.AddIntelChannel("uncore_imc_free_running_0", 30, "0", "data_read", "data_write");
  auto pmus = FindMemoryPmus(machine.root());
  ASSERT_TRUE(pmus.has_value()) << pmus.error().message;
  EXPECT_EQ(pmus->size(), 1U);
  machine.AddIntelChannel("uncore_imc_0", 14, "0");
  pmus = FindMemoryPmus(machine.root());
  ASSERT_TRUE(pmus.has_value()) << pmus.error().message;
  ASSERT_EQ(pmus->size(), 1U);
  EXPECT_EQ((*pmus)[0].name, "uncore_imc_0");
}

TEST(FindMemoryPmus, GivesAmdsChannelsTheEventsOfAmdsManual) {
  MachineWithUncore machine;
  machine.AddAmdChannel("amd_umc_0", 21, "0");
  machine.AddAmdChannel("amd_umc_12", 33, "96");
  const auto pmus = FindMemoryPmus(machine.root());
  ASSERT_TRUE(pmus.has_value()) << pmus.error().message;
  ASSERT_EQ(pmus->size(), 2U);
  EXPECT_EQ((*pmus)[1].reads[0].config, 0x10aU);
  EXPECT_EQ((*pmus)[1].writes[0].config, 0x20aU);
  EXPECT_DOUBLE_EQ((*pmus)[1].reads[0].bytes_per_count, 64);
}

TEST(FindMemoryPmus, SaysWhatIsThereInstead) {
  MachineWithUncore machine;
  const auto reason = [&] {
    const auto pmus = FindMemoryPmus(machine.root());
    return pmus.has_value() ? "found" : ReasonOf(pmus.error());
  };
  EXPECT_THAT(reason(), HasSubstr("NO_UNCORE: the kernel offers no counters of memory"));
  machine.Write("sys/bus/event_source/devices/amd_df/type", "20\n");
  EXPECT_THAT(reason(), HasSubstr("NO_UNCORE: this AMD CPU's kernel offers the data fabric"));
  machine.AddIntelChannel("uncore_imc_0", 14, "0");
  machine.Remove("sys/bus/event_source/devices/uncore_imc_0/events/cas_count_write");
  EXPECT_THAT(reason(), HasSubstr("uncore_imc_0 counts only one of reads and writes"));
}

TEST(FindMemoryPmus, WhatCannotBeReadIsNoZero) {
  for (const auto& [file, text] :
       std::map<std::string, std::string>{{"type", "x\n"},
                                          {"cpumask", "\n"},
                                          {"events/cas_count_read", "event=0x100\n"},
                                          {"events/cas_count_read.unit", "Joules\n"}}) {
    MachineWithUncore machine;
    machine.AddIntelChannel("uncore_imc_0", 14, "0");
    machine.Write("sys/bus/event_source/devices/uncore_imc_0/" + file, text);
    EXPECT_FALSE(FindMemoryPmus(machine.root()).has_value()) << file;
  }
}

class UncoreTest : public ::testing::Test {
 protected:
  UncoreTest() {
    machine_.AddIntelChannel("uncore_imc_0", 14, "0,28");
    machine_.AddIntelChannel("uncore_imc_1", 15, "0,28");
    SetCounts(1000, 2000);
  }
  // Of each channel on each socket.
  void SetCounts(uint64_t reads, uint64_t writes) {
    for (const uint32_t type : {14U, 15U}) {
      kernel_.values[{type, 0x0304}] = reads;
      kernel_.values[{type, 0x0c04}] = writes;
    }
  }
  Result<std::unique_ptr<UncoreMemoryTraffic>> Open(const RefusalContext& context = {}) {
    return UncoreMemoryTraffic::Open(context, machine_.root(), kernel_);
  }

  MachineWithUncore machine_;
  FakePerfCalls kernel_;
};

TEST_F(UncoreTest, AddsUpChannelsAndSockets) {
  auto traffic = Open();
  ASSERT_TRUE(traffic.has_value()) << traffic.error().message;
  EXPECT_EQ(kernel_.opened.size(), 8U);
  EXPECT_EQ((*traffic)->Describe(), "memory controllers: cas_count_read + cas_count_write");
  for (const FakePerfCalls::File& file : kernel_.opened) {
    EXPECT_EQ(file.pid, -1);
    EXPECT_TRUE(file.cpu == 0 || file.cpu == 28);
    EXPECT_EQ(file.attributes.exclude_kernel, 0U);  // such PMUs refuse these flags
    EXPECT_EQ(file.attributes.exclude_hv, 0U);
    EXPECT_EQ(file.attributes.pinned, 1U);
  }
  SetCounts(1010, 2003);
  const Result<MemoryBytes> bytes = (*traffic)->Read();
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  EXPECT_DOUBLE_EQ(bytes->read, 10 * 64 * 4);  // two channels on two sockets
  EXPECT_DOUBLE_EQ(bytes->written, 3 * 64 * 4);
  traffic->reset();
  EXPECT_THAT(kernel_.files, IsEmpty());
}

TEST_F(UncoreTest, NeedsTheRightToCountForAll) {
  kernel_.refused_configs = {{0x0c04, EACCES}};
  const auto traffic = Open({.perf_event_paranoid = 2, .effective_uid = 1000});
  ASSERT_FALSE(traffic.has_value());
  EXPECT_EQ(traffic.error().reason, "PERMISSION");
  EXPECT_THAT(traffic.error().message, HasSubstr("perf_event_paranoid 0 or CAP_PERFMON"));
  EXPECT_THAT(traffic.error().message, HasSubstr("(sudo sysctl kernel.perf_event_paranoid=0)"));
  EXPECT_THAT(kernel_.files, IsEmpty());
}

TEST_F(UncoreTest, ASeccompFilterIsNotBlamedOnTheLevel) {
  kernel_.refused_configs = {{0x0304, EPERM}};
  EXPECT_EQ(Open({.perf_event_paranoid = 0, .seccomp_mode = 2}).error().reason, "SECCOMP");
}

TEST_F(UncoreTest, CountersThatAreHeldAreBusy) {
  kernel_.free_counters = 0;
  EXPECT_EQ(Open().error().reason, "COUNTER_BUSY");
  EXPECT_THAT(kernel_.files, IsEmpty());
}

TEST_F(UncoreTest, ACounterThatDidNotCountAllTheTimeGivesNoBytes) {
  auto traffic = Open();
  ASSERT_TRUE(traffic.has_value());
  kernel_.enabled_ns += 5;
  EXPECT_EQ((*traffic)->Read().error().reason, "COUNTERS_LOST");
  kernel_.running_ns += 5;
  EXPECT_TRUE((*traffic)->Read().has_value());
  SetCounts(999, 2000);
  EXPECT_EQ((*traffic)->Read().error().reason, "COUNTERS_LOST");
  SetCounts(1000, 2000);
  kernel_.free_counters = 0;
  EXPECT_EQ((*traffic)->Read().error().reason, "COUNTERS_LOST");
}

TEST(UncoreMemoryTraffic, OnThisHostCountsOrSaysWhyNot) {
  const auto traffic = UncoreMemoryTraffic::Open(ContextOf(GatherFacts(SystemProbe{})));
  if (!traffic.has_value()) {
    EXPECT_THAT(traffic.error().reason,
                ::testing::AnyOf("NO_UNCORE", "PERMISSION", "SECCOMP", "COUNTER_BUSY"));
    GTEST_SKIP() << ReasonOf(traffic.error());
  }
  EXPECT_TRUE((*traffic)->Read().has_value());
}

TEST(SubtractIdle, TakesTheIdleRateOff) {
  const auto rest = SubtractIdle({1000, 500}, 2, {100, 50}, 0.5);
  ASSERT_TRUE(rest.has_value());
  EXPECT_DOUBLE_EQ(rest->read, 600);
  EXPECT_DOUBLE_EQ(rest->written, 300);
  EXPECT_EQ(SubtractIdle({100, 500}, 1, {200, 0}, 1).error().reason, "IMPLAUSIBLE");
}

}  // namespace
}  // namespace tinyprof
