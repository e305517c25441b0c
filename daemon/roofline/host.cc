#include "daemon/roofline/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "daemon/roofline/cpu_info.h"
#include "kernels/base/cpu_list.h"

namespace tinyprof {
namespace {

// The file's text without white space at its end; nothing when it cannot be read or is empty.
std::optional<std::string> ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  text.erase(text.find_last_not_of(std::string_view(" \n\t\0", 4)) + 1);
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<int64_t> MemInfoBytes(const std::filesystem::path& root, std::string_view key) {
  std::ifstream file(root / "proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const size_t digit = line.find_first_of("0123456789", key.size());
    if (digit == std::string::npos || !line.ends_with(" kB")) return std::nullopt;
    int64_t kib = 0;
    const auto [end, error] = std::from_chars(line.data() + digit, line.data() + line.size(), kib);
    if (error != std::errc() || *end != ' ' || kib > (INT64_MAX >> 10)) return std::nullopt;
    return kib << 10;
  }
  return std::nullopt;
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// x86-64 has a CPUID bit; elsewhere the firmware's own name is the best witness.
std::optional<bool> FindHypervisor(const std::filesystem::path& root, const CpuInfo& cpu) {
  if (cpu.hypervisor_flag) return cpu.hypervisor_flag;
  std::error_code ignored;
  if (std::filesystem::exists(root / "sys/hypervisor/type", ignored)) return true;
  if (std::filesystem::exists(root / "proc/device-tree/hypervisor", ignored)) return true;
  const auto vendor = ReadText(root / "sys/class/dmi/id/sys_vendor");
  const auto product = ReadText(root / "sys/class/dmi/id/product_name");
  if (!vendor && !product) return std::nullopt;
  const std::string names = vendor.value_or("") + " " + product.value_or("");
  if (ContainsAny(names, {"QEMU", "KVM", "VMware", "Xen", "VirtualBox", "Virtual Machine",
                          "Google Compute Engine", "OpenStack"})) {
    return true;
  }
  return ContainsAny(names, {"Amazon EC2"}) && !ContainsAny(names, {"metal"});
}

std::optional<std::string> FindSmt(const std::filesystem::path& root, const CpuInfo& cpu) {
  const std::optional<std::string> active = ReadText(root / "sys/devices/system/cpu/smt/active");
  if (active == "1") return "on";
  if (active == "0") return "off";
  if (!cpu.siblings_share_core) return std::nullopt;
  return *cpu.siblings_share_core ? "on" : "off";
}

std::optional<std::string> FindGovernor(const std::filesystem::path& root,
                                        const std::vector<int>& cpus) {
  std::set<std::string> governors;
  for (const int cpu : cpus) {
    const auto governor =
        ReadText(root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
    if (governor) governors.insert(*governor);
  }
  if (governors.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(governors, ", "));
}

std::optional<int> CountCpus(const std::filesystem::path& root, const CpuInfo& cpu) {
  if (const auto online = ReadText(root / "sys/devices/system/cpu/online")) {
    if (const auto cpus = ParseCpuList(*online)) return static_cast<int>(cpus->size());
  }
  if (cpu.processor_count > 0) return cpu.processor_count;
  return std::nullopt;
}

// Notes why each absent field is absent.
void ExplainAbsence(HostInfo& host) {
  const auto explain = [&host](bool present, const char* field, const char* reason) {
    if (!present) host.unknown.emplace(field, reason);
  };
  explain(host.cpu.has_value(), "cpu", "/proc/cpuinfo names no CPU model");
  explain(host.vendor.has_value(), "vendor", "/proc/cpuinfo names no vendor");
  explain(host.family_model_stepping.has_value(), "family_model_stepping",
          "/proc/cpuinfo does not number the CPU model");
  explain(host.microcode.has_value(), "microcode", "/proc/cpuinfo has no microcode revision");
  explain(host.kernel.has_value(), "kernel", "/proc/sys/kernel/osrelease cannot be read");
  explain(host.governor.has_value(), "governor",
          "the kernel does not control the clock of the CPUs that measure (usual in a virtual "
          "machine)");
  explain(host.smt.has_value(), "smt", "the kernel does not tell whether cores share threads");
  explain(host.hostname.has_value(), "hostname", "/proc/sys/kernel/hostname cannot be read");
  explain(host.virtualized.has_value(), "virtualized",
          "neither the CPU nor the firmware tells whether a hypervisor is below");
  explain(host.memory_bytes.has_value(), "memory_bytes", "/proc/meminfo has no MemTotal");
  explain(host.cpu_count.has_value(), "cpu_count", "the kernel lists no CPU");
}

template <class T>
std::string Canonical(const std::optional<T>& field) {
  return field ? fmt::format("={}", *field) : "absent";
}

std::string CanonicalCaches(const std::vector<Cache>& caches) {
  std::string text;
  for (const Cache& cache : caches) {
    text += fmt::format("L{}:{}/{};", cache.level, cache.byte_size, cache.cpus.size());
  }
  return text;
}

}  // namespace

HostInfo ReadHostInfo(const std::filesystem::path& root, const std::vector<int>& cpus) {
  const CpuInfo cpu = ParseCpuInfo(ReadText(root / "proc/cpuinfo").value_or(""));
  HostInfo host;
  host.cpu = cpu.model_name;
  host.vendor = cpu.vendor;
  host.family_model_stepping = cpu.family_model_stepping;
  host.microcode = cpu.microcode;
  host.kernel = ReadText(root / "proc/sys/kernel/osrelease");
  host.governor = FindGovernor(root, cpus);
  host.smt = FindSmt(root, cpu);
  host.hostname = ReadText(root / "proc/sys/kernel/hostname");
  host.virtualized = FindHypervisor(root, cpu);
  host.memory_bytes = MemInfoBytes(root, "MemTotal:");
  host.cpu_count = CountCpus(root, cpu);
  ExplainAbsence(host);
  if (auto caches = ReadCaches(root, cpus.front())) {
    host.caches = *std::move(caches);
  } else {
    host.unknown.emplace("caches", caches.error().message);
  }
  return host;
}

std::string Fingerprint(const HostInfo& host) {
  std::optional<int64_t> memory_gib;
  if (host.memory_bytes) memory_gib = (*host.memory_bytes + (int64_t{1} << 29)) >> 30;
  const std::string text = fmt::format(
      "cpu{}\nvendor{}\nmodel{}\nmicrocode{}\nkernel{}\ngovernor{}\nsmt{}\nvirtualized{}\n"
      "memory{}\ncpus{}\ncaches={}\n",
      Canonical(host.cpu), Canonical(host.vendor), Canonical(host.family_model_stepping),
      Canonical(host.microcode), Canonical(host.kernel), Canonical(host.governor),
      Canonical(host.smt), Canonical(host.virtualized), Canonical(memory_gib),
      Canonical(host.cpu_count), CanonicalCaches(host.caches));
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

std::optional<int64_t> ReadAvailableMemory(const std::filesystem::path& root) {
  return MemInfoBytes(root, "MemAvailable:");
}

}  // namespace tinyprof
