#include "daemon/roofline/cpu_info.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

TEST(ParseCpuInfo, EmptyTextHasNothing) {
  const CpuInfo info = ParseCpuInfo("");
  EXPECT_FALSE(info.vendor.has_value());
  EXPECT_FALSE(info.model_name.has_value());
  EXPECT_FALSE(info.family_model_stepping.has_value());
  EXPECT_FALSE(info.hypervisor_flag.has_value());
  EXPECT_EQ(info.processor_count, 0);
}

TEST(ParseCpuInfo, FirstCpuWinsAndAllAreCounted) {
  const CpuInfo info =
      ParseCpuInfo("processor\t: 0\nmodel name\t: First\n\nprocessor\t: 1\nmodel name\t: Second\n");
  EXPECT_EQ(info.model_name, "First");
  EXPECT_EQ(info.processor_count, 2);
}

TEST(ParseCpuInfo, HypervisorIsAWholeWord) {
  EXPECT_EQ(ParseCpuInfo("flags : fpu hypervisor").hypervisor_flag, true);
  EXPECT_EQ(ParseCpuInfo("flags : hypervisor").hypervisor_flag, true);
  EXPECT_EQ(ParseCpuInfo("flags : fpu hypervisor_x xhypervisor").hypervisor_flag, false);
}

TEST(ParseCpuInfo, DamagedNumbersAreAbsent) {
  EXPECT_FALSE(ParseCpuInfo("cpu family: six\nmodel: 143\nstepping: 8\n").family_model_stepping);
  EXPECT_FALSE(ParseCpuInfo("cpu family: 6\nmodel: 143\n").family_model_stepping);
  EXPECT_FALSE(ParseCpuInfo("siblings: 99999999999999\ncpu cores: 2\n").siblings_share_core);
  EXPECT_FALSE(ParseCpuInfo("model name :\nno colon here\n:\n").model_name);
}

TEST(ParseCpuInfo, UnknownArmPartKeepsItsNumber) {
  const CpuInfo info = ParseCpuInfo("CPU implementer : 0xc0\nCPU part : 0xac3\n");
  EXPECT_EQ(info.vendor, "Ampere");
  EXPECT_EQ(info.model_name, "Ampere part 0xac3");
  EXPECT_FALSE(info.family_model_stepping.has_value());
}

}  // namespace
}  // namespace tinyprof
