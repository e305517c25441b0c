#include "daemon/roofline/cpu_info.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <utility>

namespace tinyprof {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The first value of every key; `processor_count` counts the entries.
Fields FirstValues(std::string_view text, int& processor_count) {
  Fields fields;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = Trim(line.substr(0, colon));
    if (key == "processor") ++processor_count;
    fields.emplace(key, Trim(line.substr(colon + 1)));
  }
  return fields;
}

std::optional<std::string> Get(const Fields& fields, std::string_view key) {
  const auto found = fields.find(key);
  if (found == fields.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<int> GetInt(const Fields& fields, std::string_view key) {
  const std::optional<std::string> text = Get(fields, key);
  if (!text) return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

bool HasWord(std::string_view words, std::string_view wanted) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == wanted) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

std::string ArmVendor(std::string_view implementer) {
  static const std::map<std::string_view, std::string_view> names = {
      {"0x41", "Arm"},       {"0x42", "Broadcom"}, {"0x43", "Cavium"},   {"0x46", "Fujitsu"},
      {"0x48", "HiSilicon"}, {"0x4e", "NVIDIA"},   {"0x51", "Qualcomm"}, {"0x61", "Apple"},
      {"0x6d", "Microsoft"}, {"0xc0", "Ampere"}};
  const auto found = names.find(implementer);
  return found != names.end() ? std::string(found->second)
                              : "implementer " + std::string(implementer);
}

std::string ArmModel(std::string_view implementer, std::string_view part) {
  static const std::map<std::string_view, std::string_view> names = {
      {"0xd03", "Cortex-A53"},    {"0xd07", "Cortex-A57"},  {"0xd08", "Cortex-A72"},
      {"0xd0b", "Cortex-A76"},    {"0xd0c", "Neoverse-N1"}, {"0xd40", "Neoverse-V1"},
      {"0xd41", "Cortex-A78"},    {"0xd49", "Neoverse-N2"}, {"0xd4f", "Neoverse-V2"},
      {"0xd83", "Neoverse-V3AE"}, {"0xd84", "Neoverse-V3"}, {"0xd8e", "Neoverse-N3"}};
  const auto found = names.find(part);
  if (implementer == "0x41" && found != names.end()) return std::string(found->second);
  return fmt::format("{} part {}", ArmVendor(implementer), part);
}

void FillArm(const Fields& fields, const std::string& implementer, CpuInfo& info) {
  info.vendor = ArmVendor(implementer);
  const std::optional<std::string> part = Get(fields, "CPU part");
  if (!part) return;
  info.model_name = ArmModel(implementer, *part);
  const std::optional<std::string> variant = Get(fields, "CPU variant");
  const std::optional<int> revision = GetInt(fields, "CPU revision");
  const std::optional<std::string> architecture = Get(fields, "CPU architecture");
  if (!variant || !revision || !architecture || !variant->starts_with("0x")) return;
  info.family_model_stepping =
      fmt::format("{}-{}-r{}p{}", *architecture, *part, variant->substr(2), *revision);
}

void FillX86(const Fields& fields, CpuInfo& info) {
  info.vendor = Get(fields, "vendor_id");
  info.model_name = Get(fields, "model name");
  info.microcode = Get(fields, "microcode");
  const std::optional<int> family = GetInt(fields, "cpu family");
  const std::optional<int> model = GetInt(fields, "model");
  const std::optional<int> stepping = GetInt(fields, "stepping");
  if (family && model && stepping) {
    info.family_model_stepping = fmt::format("{}-{}-{}", *family, *model, *stepping);
  }
  if (const auto flags = Get(fields, "flags")) info.hypervisor_flag = HasWord(*flags, "hypervisor");
  const std::optional<int> siblings = GetInt(fields, "siblings");
  const std::optional<int> cores = GetInt(fields, "cpu cores");
  if (siblings && cores) info.siblings_share_core = *siblings > *cores;
}

}  // namespace

CpuInfo ParseCpuInfo(std::string_view text) {
  CpuInfo info;
  const Fields fields = FirstValues(text, info.processor_count);
  if (const auto implementer = Get(fields, "CPU implementer")) {
    FillArm(fields, *implementer, info);
  } else {
    FillX86(fields, info);
  }
  return info;
}

}  // namespace tinyprof
