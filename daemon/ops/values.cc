#include "daemon/ops/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "kernels/base/checked_math.h"

namespace tinyprof {
namespace {

constexpr std::chrono::nanoseconds kMaxDuration = std::chrono::hours(24);

tl::unexpected<Error> BadValue(std::string_view got, std::string_view wanted) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_VALUE",
              fmt::format("got '{}', wanted {}", got, wanted), {{"got", std::string(got)}});
}

// All of `text` as a non-negative number, or nothing (also when it does not fit).
std::optional<int64_t> ToNumber(std::string_view text, int base = 10) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || stop != end || text.starts_with("-")) return std::nullopt;
  return number;
}

struct Suffix {
  std::string_view name;
  int64_t factor;
};

// `text` as a number followed by one of `suffixes`, scaled; nothing when it is no such thing.
std::optional<int64_t> ToScaled(std::string_view text, std::span<const Suffix> suffixes) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto suffix = std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& candidate) {
    return candidate.name == text.substr(digits);
  });
  const std::optional<int64_t> number = ToNumber(text.substr(0, digits));
  if (!number || suffix == suffixes.end()) return std::nullopt;
  const Result<int64_t> scaled = CheckedMul(*number, suffix->factor);
  return scaled ? std::optional(*scaled) : std::nullopt;
}

}  // namespace

Result<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max) {
  const std::optional<int64_t> number = ToNumber(text);
  if (!number || *number < min || *number > max) {
    return BadValue(text, fmt::format("a whole number from {} to {}", min, max));
  }
  return *number;
}

Result<int64_t> ParseByteCount(std::string_view text) {
  static constexpr std::array kSuffixes = {Suffix{"", 1},
                                           Suffix{"B", 1},
                                           Suffix{"KiB", 1LL << 10},
                                           Suffix{"MiB", 1LL << 20},
                                           Suffix{"GiB", 1LL << 30},
                                           Suffix{"TiB", 1LL << 40}};
  const std::optional<int64_t> bytes = ToScaled(text, kSuffixes);
  if (!bytes || *bytes < 1) return BadValue(text, "a size such as 512MiB, 4GiB or plain bytes");
  return *bytes;
}

Result<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  static constexpr std::array kSuffixes = {Suffix{"ms", 1'000'000}, Suffix{"s", 1'000'000'000},
                                           Suffix{"m", 60'000'000'000},
                                           Suffix{"h", 3'600'000'000'000}};
  const std::optional<int64_t> duration_ns = ToScaled(text, kSuffixes);
  if (!duration_ns || std::chrono::nanoseconds(*duration_ns) > kMaxDuration) {
    return BadValue(text, "a duration of at most 24h such as 500ms, 30s, 10m or 1h");
  }
  return std::chrono::nanoseconds(*duration_ns);
}

Result<uint32_t> ParseFileMode(std::string_view text) {
  const std::optional<int64_t> mode =
      text.size() == 3 || text.size() == 4 ? ToNumber(text, 8) : std::nullopt;
  if (!mode || *mode > 0777) return BadValue(text, "an octal file mode such as 0660");
  return static_cast<uint32_t>(*mode);
}

}  // namespace tinyprof
