#include "daemon/counters/cpu_family.h"

#include <algorithm>
#include <charconv>

namespace tinyprof {
namespace {

struct ModelRange {
  std::string_view vendor;
  int family;
  int first_model;
  int last_model;
  CpuFamily cpu_family;
};
constexpr ModelRange kModels[] = {
    {"GenuineIntel", 6, 0x55, 0x55, CpuFamily::kSkx},
    {"GenuineIntel", 6, 0x6a, 0x6a, CpuFamily::kIcx},
    {"GenuineIntel", 6, 0x6c, 0x6c, CpuFamily::kIcx},
    {"GenuineIntel", 6, 0x8f, 0x8f, CpuFamily::kSpr},
    {"GenuineIntel", 6, 0xcf, 0xcf, CpuFamily::kSpr},  // Emerald Rapids
    {"GenuineIntel", 6, 0xad, 0xae, CpuFamily::kSpr},  // Granite Rapids
    {"AuthenticAMD", 0x17, 0x30, 0x4f, CpuFamily::kZen2},
    {"AuthenticAMD", 0x17, 0x60, 0x7f, CpuFamily::kZen2},
    {"AuthenticAMD", 0x17, 0x90, 0x91, CpuFamily::kZen2},
    {"AuthenticAMD", 0x17, 0xa0, 0xaf, CpuFamily::kZen2},
    {"AuthenticAMD", 0x19, 0x00, 0x0f, CpuFamily::kZen3},
    {"AuthenticAMD", 0x19, 0x20, 0x5f, CpuFamily::kZen3},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, CpuFamily::kZen4},
    {"AuthenticAMD", 0x19, 0x60, 0xaf, CpuFamily::kZen4},
};

struct ArmPart {
  int implementer;
  int part;
  CpuFamily cpu_family;
};
constexpr int kArm = 0x41;
constexpr int kMicrosoft = 0x6d;
constexpr ArmPart kParts[] = {
    {kArm, 0xd0c, CpuFamily::kNeoverseN1},
    {kArm, 0xd40, CpuFamily::kNeoverseV1},
    {kArm, 0xd49, CpuFamily::kNeoverseN2},
    {kMicrosoft, 0xd49, CpuFamily::kNeoverseN2},  // Cobalt 100 is a Neoverse N2
    {kArm, 0xd4f, CpuFamily::kNeoverseV2},
};

struct PmuName {
  std::string_view pmu;
  CpuFamily cpu_family;
};
// "emr" and "gnr" come with a libpfm4 after 4.13.
constexpr PmuName kPmus[] = {
    {"clx", CpuFamily::kSkx},
    {"emr", CpuFamily::kSpr},
    {"gnr", CpuFamily::kSpr},
    {"amd64_fam17h_zen2", CpuFamily::kZen2},
    {"amd64_fam19h_zen3", CpuFamily::kZen3},
    {"amd64_fam19h_zen4", CpuFamily::kZen4},
    {"arm_n1", CpuFamily::kNeoverseN1},
    {"arm_v1", CpuFamily::kNeoverseV1},
    {"arm_n2", CpuFamily::kNeoverseN2},
    {"arm_v2", CpuFamily::kNeoverseV2},
};

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// The value of the first line "key : value".
std::string_view Field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && Trim(line.substr(0, colon)) == key) {
      return Trim(line.substr(colon + 1));
    }
  }
  return {};
}

// Decimal, or hexadecimal after "0x"; 0 for what is no number.
int Number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) {
    text.remove_prefix(2);
  }
  int value = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? value : 0;
}

}  // namespace

std::string_view Name(CpuFamily family) {
  switch (family) {
    case CpuFamily::kGeneric:
      return "generic";
    case CpuFamily::kSkx:
      return "skx";
    case CpuFamily::kIcx:
      return "icx";
    case CpuFamily::kSpr:
      return "spr";
    case CpuFamily::kZen2:
      return "zen2";
    case CpuFamily::kZen3:
      return "zen3";
    case CpuFamily::kZen4:
      return "zen4";
    case CpuFamily::kNeoverseN1:
      return "neoverse_n1";
    case CpuFamily::kNeoverseV1:
      return "neoverse_v1";
    case CpuFamily::kNeoverseN2:
      return "neoverse_n2";
    case CpuFamily::kNeoverseV2:
      return "neoverse_v2";
  }
  return "generic";
}

CpuIdentity ParseCpuinfo(std::string_view cpuinfo) {
  return {.vendor = std::string(Field(cpuinfo, "vendor_id")),
          .family = Number(Field(cpuinfo, "cpu family")),
          .model = Number(Field(cpuinfo, "model")),
          .implementer = Number(Field(cpuinfo, "CPU implementer")),
          .part = Number(Field(cpuinfo, "CPU part"))};
}

CpuFamily FamilyOf(const CpuIdentity& cpu) {
  for (const ModelRange& range : kModels) {
    if (cpu.vendor == range.vendor && cpu.family == range.family &&
        cpu.model >= range.first_model && cpu.model <= range.last_model) {
      return range.cpu_family;
    }
  }
  for (const ArmPart& part : kParts) {
    if (cpu.implementer == part.implementer && cpu.part == part.part) {
      return part.cpu_family;
    }
  }
  return CpuFamily::kGeneric;
}

CpuFamily FamilyOf(std::string_view pmu) {
  for (const PmuName& row : kPmus) {
    if (pmu == row.pmu) {
      return row.cpu_family;
    }
  }
  for (const CpuFamily family : kCpuFamilies) {
    if (pmu == Name(family)) {
      return family;
    }
  }
  return CpuFamily::kGeneric;
}

std::vector<std::string_view> PmusOf(CpuFamily family) {
  std::vector<std::string_view> names;
  for (const PmuName& row : kPmus) {
    if (row.cpu_family == family) {
      names.push_back(row.pmu);
    }
  }
  return names;
}

}  // namespace tinyprof
