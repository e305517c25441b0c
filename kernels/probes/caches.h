// The data caches of a CPU as Linux describes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

struct Cache {
  int level = 0;
  int64_t byte_size = 0;
  int64_t line_byte_size = 0;
  std::vector<int> cpus;  // those that share it, ascending

  friend bool operator==(const Cache&, const Cache&) = default;
};

// Data and unified caches of `cpu`, by rising level. `root` is "/" but for tests.
// NOT_FOUND / "NO_CACHE_INFO" when the kernel does not describe any (many arm64 guests), DATA_LOSS
// / "BAD_CACHE_INFO" when a file does not hold what it should.
Result<std::vector<Cache>> ReadCaches(const std::filesystem::path& root, int cpu);

// "48K", "2048K", "32M", "512" in bytes; nothing for anything else or for more than 2^40.
std::optional<int64_t> ParseCacheSize(std::string_view text);

}  // namespace tinyprof
