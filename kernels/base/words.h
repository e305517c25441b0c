// Numbers in sentences: counted nouns and sizes.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tinyprof {

// "1 pass", "2 passes", "0 passes"; `many` is `one` with an s unless it is given.
inline std::string Counted(int64_t count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

// "512 B", "4 GiB", "1.50 MiB": whole where that is exact, else three significant digits, in the
// largest unit that leaves 1 or more.
inline std::string SizeText(int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  auto scaled = static_cast<double>(bytes);
  // 1023.5 of a unit would be written as 1024 of it.
  while (scaled >= 1023.5 && unit + 1 < kUnits.size()) {
    scaled /= 1024;
    ++unit;
  }
  const bool whole = bytes % (int64_t{1} << (10 * unit)) == 0;
  const int decimals = whole || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", scaled, decimals, kUnits[unit]);
}

}  // namespace tinyprof
