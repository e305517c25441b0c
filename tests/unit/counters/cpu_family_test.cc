#include "daemon/counters/cpu_family.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

CpuFamily Intel(int model) {
  return FamilyOf(CpuIdentity{.vendor = "GenuineIntel", .family = 6, .model = model});
}
CpuFamily Amd(int family, int model) {
  return FamilyOf(CpuIdentity{.vendor = "AuthenticAMD", .family = family, .model = model});
}
CpuFamily Arm(int implementer, int part) {
  return FamilyOf(CpuIdentity{.implementer = implementer, .part = part});
}

// Models by the names under which they are sold.
TEST(FamilyOf, KnowsServersByModel) {
  EXPECT_EQ(Intel(85), CpuFamily::kSkx);   // Skylake, Cascade Lake, Cooper Lake
  EXPECT_EQ(Intel(106), CpuFamily::kIcx);  // Ice Lake SP
  EXPECT_EQ(Intel(108), CpuFamily::kIcx);  // Ice Lake D
  EXPECT_EQ(Intel(143), CpuFamily::kSpr);
  EXPECT_EQ(Intel(207), CpuFamily::kSpr);        // Emerald Rapids
  EXPECT_EQ(Intel(173), CpuFamily::kSpr);        // Granite Rapids
  EXPECT_EQ(Intel(174), CpuFamily::kSpr);        // Granite Rapids D
  EXPECT_EQ(Amd(0x17, 0x31), CpuFamily::kZen2);  // Rome
  EXPECT_EQ(Amd(0x17, 0x71), CpuFamily::kZen2);  // Matisse
  EXPECT_EQ(Amd(0x19, 0x01), CpuFamily::kZen3);  // Milan
  EXPECT_EQ(Amd(0x19, 0x21), CpuFamily::kZen3);  // Vermeer
  EXPECT_EQ(Amd(0x19, 0x50), CpuFamily::kZen3);  // Cezanne
  EXPECT_EQ(Amd(0x19, 0x11), CpuFamily::kZen4);  // Genoa
  EXPECT_EQ(Amd(0x19, 0x61), CpuFamily::kZen4);  // Raphael
  EXPECT_EQ(Amd(0x19, 0x74), CpuFamily::kZen4);  // Phoenix
  EXPECT_EQ(Amd(0x19, 0xa0), CpuFamily::kZen4);  // Bergamo
  EXPECT_EQ(Arm(0x41, 0xd0c), CpuFamily::kNeoverseN1);
  EXPECT_EQ(Arm(0x41, 0xd40), CpuFamily::kNeoverseV1);
  EXPECT_EQ(Arm(0x41, 0xd49), CpuFamily::kNeoverseN2);
  EXPECT_EQ(Arm(0x6d, 0xd49), CpuFamily::kNeoverseN2);  // Cobalt 100
  EXPECT_EQ(Arm(0x41, 0xd4f), CpuFamily::kNeoverseV2);
}

TEST(FamilyOf, OtherCpusAreGeneric) {
  EXPECT_EQ(Intel(94), CpuFamily::kGeneric);         // Skylake client
  EXPECT_EQ(Intel(151), CpuFamily::kGeneric);        // Alder Lake
  EXPECT_EQ(Amd(0x17, 0x01), CpuFamily::kGeneric);   // Naples, Zen 1
  EXPECT_EQ(Amd(0x17, 0x18), CpuFamily::kGeneric);   // Picasso, Zen+
  EXPECT_EQ(Amd(0x1a, 0x02), CpuFamily::kGeneric);   // Turin, Zen 5
  EXPECT_EQ(Arm(0x41, 0xd08), CpuFamily::kGeneric);  // Cortex-A72
  EXPECT_EQ(Arm(0x48, 0xd0c), CpuFamily::kGeneric);  // another implementer's part of that number
  EXPECT_EQ(FamilyOf(CpuIdentity{}), CpuFamily::kGeneric);
  // A model number means nothing under another vendor.
  EXPECT_EQ(FamilyOf(CpuIdentity{.vendor = "CentaurHauls", .family = 6, .model = 85}),
            CpuFamily::kGeneric);
}

TEST(FamilyOf, KnowsPmusByLibpfmsNameAndFamiliesByTheirOwn) {
  EXPECT_EQ(FamilyOf("skx"), CpuFamily::kSkx);
  EXPECT_EQ(FamilyOf("clx"), CpuFamily::kSkx);
  EXPECT_EQ(FamilyOf("icx"), CpuFamily::kIcx);
  EXPECT_EQ(FamilyOf("amd64_fam17h_zen2"), CpuFamily::kZen2);
  EXPECT_EQ(FamilyOf("amd64_fam19h_zen4"), CpuFamily::kZen4);
  EXPECT_EQ(FamilyOf("arm_v2"), CpuFamily::kNeoverseV2);
  EXPECT_EQ(FamilyOf("skx_unc_imc0"), CpuFamily::kGeneric);
  EXPECT_EQ(FamilyOf("amd64_fam17h_zen1"), CpuFamily::kGeneric);
  EXPECT_EQ(FamilyOf("icl"), CpuFamily::kGeneric);
  EXPECT_EQ(FamilyOf(""), CpuFamily::kGeneric);
  for (const CpuFamily family : kCpuFamilies) {
    EXPECT_EQ(FamilyOf(Name(family)), family) << Name(family);
  }
}

TEST(ParseCpuinfo, ReadsTheFirstCpu) {
  const CpuIdentity amd = {.vendor = "AuthenticAMD", .family = 25, .model = 17};
  EXPECT_EQ(ParseCpuinfo("processor\t: 0\n"
                         "vendor_id\t: AuthenticAMD\n"
                         "cpu family\t: 25\n"
                         "model\t\t: 17\n"
                         "model name\t: AMD EPYC 9654 96-Core Processor\n"
                         "\n"
                         "processor\t: 1\n"
                         "vendor_id\t: GenuineIntel\n"
                         "model\t\t: 85\n"),
            amd);
  const CpuIdentity arm = {.implementer = 0x41, .part = 0xd40};
  EXPECT_EQ(ParseCpuinfo("processor\t: 0\n"
                         "CPU implementer\t: 0x41\n"
                         "CPU architecture: 8\n"
                         "CPU variant\t: 0x1\n"
                         "CPU part\t: 0xd40\n"),
            arm);
}

TEST(ParseCpuinfo, LeavesOutWhatItCannotRead) {
  for (const char* text : {"", "\n\n", "model", "model\t: x7", "model\t: 999999999999", ":::"}) {
    EXPECT_EQ(ParseCpuinfo(text), CpuIdentity{}) << text;
  }
}

}  // namespace
}  // namespace tinyprof
