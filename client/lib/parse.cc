#include "client/lib/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace tinyprof::client {
namespace {

constexpr size_t kMaxRank = 16;
constexpr double kMaxSeconds = 24.0 * 3600;

// Digits with at most one decimal point between digits; signs, exponents and blanks are refused.
std::optional<double> ParseDecimal(std::string_view text) {
  const bool digits_only = std::all_of(text.begin(), text.end(),
                                       [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  if (!digits_only || text.empty() || text.front() == '.' || text.back() == '.' ||
      std::count(text.begin(), text.end(), '.') > 1) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

tl::unexpected<Error> Bad(std::string reason, std::string message, std::string_view got) {
  return Fail(ErrorCode::kInvalidArgument, std::move(reason), std::move(message),
              {{"got", std::string(got)}});
}

struct Unit {
  std::string_view suffix;
  double seconds;
};

// "ms" stands before "s" and "m", of which it is made.
constexpr std::array kUnits = {Unit{"ms", 1e-3}, Unit{"s", 1}, Unit{"m", 60}, Unit{"h", 3600}};

}  // namespace

Result<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.suffix)) continue;
    const auto number = ParseDecimal(text.substr(0, text.size() - unit.suffix.size()));
    if (!number) break;
    const double seconds = *number * unit.seconds;
    if (!(seconds >= 1e-3 && seconds <= kMaxSeconds)) {
      return Bad("BAD_DURATION", fmt::format("the duration '{}' is not between 1ms and 24h", text),
                 text);
    }
    return std::chrono::nanoseconds(std::llround(seconds * 1e9));
  }
  return Bad(
      "BAD_DURATION",
      fmt::format("'{}' is no duration; write a number and a unit, such as 500ms, 10s, 2m or 1h",
                  text),
      text);
}

Result<double> ParsePercent(std::string_view text) {
  const auto number =
      text.ends_with('%') ? ParseDecimal(text.substr(0, text.size() - 1)) : std::nullopt;
  if (!number) {
    return Bad("BAD_PERCENT",
               fmt::format("'{}' is no percentage; write a number and %, such as 1% or 0.5%", text),
               text);
  }
  if (!(*number > 0 && *number <= 100)) {
    return Bad("BAD_PERCENT",
               fmt::format("the percentage '{}' is not above 0% and at most 100%", text), text);
  }
  return *number / 100;
}

Result<NamedShape> ParseInputShape(std::string_view text) {
  NamedShape shape;
  std::string_view dims = text;
  if (const size_t equals = text.rfind('='); equals != std::string_view::npos) {
    shape.name = std::string(text.substr(0, equals));
    dims = text.substr(equals + 1);
    if (shape.name.empty()) {
      return Bad("BAD_SHAPE", fmt::format("'{}' names no input before the '='", text), text);
    }
  }
  while (true) {
    const size_t cross = dims.find('x');
    const std::string_view digits = dims.substr(0, cross);
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), dim);
    if (error != std::errc() || end != digits.data() + digits.size() || dim < 1 ||
        shape.dims.size() == kMaxRank) {
      return Bad("BAD_SHAPE",
                 fmt::format("'{}' is no shape; write at most {} dimensions of at least 1, such as "
                             "1x3x224x224 or NAME=32x784",
                             text, kMaxRank),
                 text);
    }
    shape.dims.push_back(dim);
    if (cross == std::string_view::npos) return shape;
    dims.remove_prefix(cross + 1);
  }
}

}  // namespace tinyprof::client
