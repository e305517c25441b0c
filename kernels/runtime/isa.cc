#include "kernels/runtime/isa.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tinyprof {
namespace {

constexpr std::array<std::pair<Isa, std::string_view>, 3> kNames = {{
    {Isa::kBaseline, "baseline"},
    {Isa::kAvx2, "avx2"},
    {Isa::kAvx512, "avx512"},
}};

// The built-in asks CPUID and, for the wide registers, whether the kernel saves them (XGETBV).
std::vector<Isa> DetectIsas() {
  std::vector<Isa> isas = {Isa::kBaseline};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (avx2) isas.push_back(Isa::kAvx2);
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && avx512) isas.push_back(Isa::kAvx512);
#endif
  return isas;
}

}  // namespace

std::string_view Name(Isa isa) { return kNames[static_cast<size_t>(isa)].second; }

const std::vector<Isa>& HostIsas() {
  static const std::vector<Isa> isas = DetectIsas();
  return isas;
}

Result<Isa> ResolveIsa(std::string_view name) {
  if (name.empty() || name == "native") return HostIsas().back();
  for (const auto& [isa, isa_name] : kNames) {
    if (isa_name != name) continue;
    if (std::find(HostIsas().begin(), HostIsas().end(), isa) != HostIsas().end()) return isa;
    return Fail(
        ErrorCode::kFailedPrecondition, "ISA_NOT_AVAILABLE",
        fmt::format("this CPU lacks {}; the best it has is {}", name, Name(HostIsas().back())),
        {{"isa", std::string(name)}});
  }
  return Fail(
      ErrorCode::kInvalidArgument, "UNKNOWN_ISA",
      fmt::format("no instruction set is called '{}'; use baseline, avx2, avx512 or native", name),
      {{"isa", std::string(name)}});
}

}  // namespace tinyprof
