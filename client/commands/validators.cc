#include "client/commands/validators.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace tinyprof::client {
namespace {

// The number that is all of `text`.
template <class Number>
std::optional<Number> Parse(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && parsed == end ? std::optional(number) : std::nullopt;
}

}  // namespace

CLI::Validator WholeNumber(uint64_t min, uint64_t max) {
  const std::string wanted = fmt::format("whole number from {} to {}", min, max);
  return {[=](std::string& text) {
            const auto number = Parse<uint64_t>(text);
            // CLI11 reads what it is given with its own eyes: 010 is eight to it.
            const bool plain = !text.starts_with('0') || text == "0";
            if (number && plain && *number >= min && *number <= max) return std::string();
            return fmt::format("'{}' is no {}", text, wanted);
          },
          wanted};
}

CLI::Validator DecimalNumber(double min, double max) {
  const std::string wanted = fmt::format("number from {} to {}", min, max);
  return {[=](std::string& text) {
            const auto number = Parse<double>(text);
            if (number && *number >= min && *number <= max) return std::string();
            return fmt::format("'{}' is no {}", text, wanted);
          },
          wanted};
}

}  // namespace tinyprof::client
