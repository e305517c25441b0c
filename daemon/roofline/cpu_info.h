// What /proc/cpuinfo says of the first CPU, in one form for x86-64 and arm64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tinyprof {

struct CpuInfo {
  std::optional<std::string> model_name;  // arm64: from the part number
  std::optional<std::string> vendor;      // "GenuineIntel", "AuthenticAMD", "Arm"
  // x86-64: "6-143-8". arm64: architecture, part and revision, "8-0xd40-r1p1".
  std::optional<std::string> family_model_stepping;
  std::optional<std::string> microcode;     // x86-64 only
  std::optional<bool> hypervisor_flag;      // x86-64 only: CPUID says there is one below
  std::optional<bool> siblings_share_core;  // x86-64 only: more threads than cores in the package
  int processor_count = 0;
};

// Never fails: what is not in `text` is absent.
CpuInfo ParseCpuInfo(std::string_view text);

}  // namespace tinyprof
