#include "kernels/probes/caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "kernels/base/cpu_list.h"

namespace tinyprof {
namespace {

constexpr int kMaxCacheIndex = 16;

std::optional<std::string> ReadTrimmed(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  text.erase(text.find_last_not_of(" \n\t") + 1);
  return text;
}

template <class Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

tl::unexpected<Error> BadCache(const std::filesystem::path& file, const std::string& got) {
  return Fail(ErrorCode::kDataLoss, "BAD_CACHE_INFO",
              fmt::format("{} holds \"{}\", which is no cache description", file.string(), got),
              {{"file", file.string()}, {"got", got}});
}

Result<Cache> ReadCache(const std::filesystem::path& folder) {
  Cache cache;
  const std::string level = ReadTrimmed(folder / "level").value_or("");
  const std::string size = ReadTrimmed(folder / "size").value_or("");
  const std::optional<int> parsed_level = ParseWhole<int>(level);
  const std::optional<int64_t> parsed_size = ParseCacheSize(size);
  if (!parsed_level) return BadCache(folder / "level", level);
  if (!parsed_size || *parsed_size == 0) return BadCache(folder / "size", size);
  cache.level = *parsed_level;
  cache.byte_size = *parsed_size;
  const std::string line = ReadTrimmed(folder / "coherency_line_size").value_or("");
  cache.line_byte_size = ParseWhole<int64_t>(line).value_or(64);
  TINYPROF_ASSIGN_OR_RETURN(cache.cpus,
                            ParseCpuList(ReadTrimmed(folder / "shared_cpu_list").value_or("")));
  return cache;
}

}  // namespace

std::optional<int64_t> ParseCacheSize(std::string_view text) {
  int64_t unit = 1;
  if (text.ends_with('K')) unit = int64_t{1} << 10;
  if (text.ends_with('M')) unit = int64_t{1} << 20;
  if (text.ends_with('G')) unit = int64_t{1} << 30;
  if (unit > 1) text.remove_suffix(1);
  const std::optional<int64_t> count = ParseWhole<int64_t>(text);
  if (!count || *count > (int64_t{1} << 40) / unit) return std::nullopt;
  return *count * unit;
}

Result<std::vector<Cache>> ReadCaches(const std::filesystem::path& root, int cpu) {
  const std::filesystem::path folder =
      root / fmt::format("sys/devices/system/cpu/cpu{}/cache", cpu);
  std::vector<Cache> caches;
  for (int index = 0; index < kMaxCacheIndex; ++index) {
    const std::filesystem::path entry = folder / fmt::format("index{}", index);
    const std::optional<std::string> type = ReadTrimmed(entry / "type");
    if (!type) break;
    if (*type != "Data" && *type != "Unified") continue;
    TINYPROF_ASSIGN_OR_RETURN(Cache cache, ReadCache(entry));
    caches.push_back(std::move(cache));
  }
  if (caches.empty()) {
    return Fail(ErrorCode::kNotFound, "NO_CACHE_INFO",
                fmt::format("the kernel does not describe the caches of CPU {}: {} has no entries",
                            cpu, folder.string()),
                {{"cpu", std::to_string(cpu)}, {"folder", folder.string()}});
  }
  std::sort(caches.begin(), caches.end(),
            [](const Cache& a, const Cache& b) { return a.level < b.level; });
  return caches;
}

}  // namespace tinyprof
