// Families of CPUs that count the same events, one file of the catalogue each.
//
// Sources of the model numbers: Intel's perfmon mapfile.csv, the model ranges by which Linux tells
// AMD's cores apart, and Arm's part numbers (MIDR_EL1).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tinyprof {

enum class CpuFamily {
  kGeneric,  // any other CPU
  kSkx,      // Skylake, Cascade Lake and Cooper Lake servers
  kIcx,      // Ice Lake servers
  kSpr,      // Sapphire, Emerald and Granite Rapids
  kZen2,
  kZen3,
  kZen4,
  kNeoverseN1,
  kNeoverseV1,
  kNeoverseN2,
  kNeoverseV2,
};
inline constexpr std::array kCpuFamilies = {
    CpuFamily::kGeneric,    CpuFamily::kSkx,        CpuFamily::kIcx,        CpuFamily::kSpr,
    CpuFamily::kZen2,       CpuFamily::kZen3,       CpuFamily::kZen4,       CpuFamily::kNeoverseN1,
    CpuFamily::kNeoverseV1, CpuFamily::kNeoverseN2, CpuFamily::kNeoverseV2,
};

// "generic", "skx", ..., "zen2", ..., "neoverse_n1", ...
std::string_view Name(CpuFamily family);

// What a CPU says of itself.
struct CpuIdentity {
  std::string vendor;   // x86-64: "GenuineIntel", "AuthenticAMD"; empty elsewhere
  int family = 0;       // x86-64: as displayed, extended family added
  int model = 0;        // x86-64: as displayed, extended model added
  int implementer = 0;  // arm64: 0x41 for Arm; 0 elsewhere
  int part = 0;         // arm64: 0xd0c, ...; 0 elsewhere
  friend bool operator==(const CpuIdentity&, const CpuIdentity&) = default;
};

// Of the first CPU in the text of /proc/cpuinfo; fields that it does not have stay empty.
CpuIdentity ParseCpuinfo(std::string_view cpuinfo);

// Knows CPUs that libpfm4 4.13 does not, where their cores count the same events.
CpuFamily FamilyOf(const CpuIdentity& cpu);

// By libpfm4's name of the core PMU ("skx", "clx", "amd64_fam19h_zen4", "arm_n1") or by the name of
// a family.
CpuFamily FamilyOf(std::string_view pmu);

// libpfm4's names of the core PMUs of a family; none for one that it does not know.
std::vector<std::string_view> PmusOf(CpuFamily family);

}  // namespace tinyprof
