// Small texts of /proc and /sys. Absent: the file cannot be read, or does not hold what is asked.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace tinyprof {

// The whole file without trailing blanks and line ends.
std::optional<std::string> ReadTextFile(const std::string& path);

// What is at a path that a person named, which may be anything.
struct NamedFile {
  std::optional<std::string> text;  // absent: it is no regular file, or it cannot be read
  std::string kind;                 // "a FIFO", "a device", ...; empty: a regular file, or nothing
};
// At most the first MiB of a regular file. Opens nothing else, since that may wait for ever or have
// consequences.
NamedFile ReadNamedFile(const std::string& path);

// The rest of the first line that begins with `key`.
std::optional<std::string> LineAfter(const std::string& path, std::string_view key);

// The number at the beginning of `text`, after blanks.
template <class T>
std::optional<T> ParseInt(std::string_view text, int base = 10) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  T value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return parsed.ec == std::errc() ? std::optional<T>(value) : std::nullopt;
}

template <class T>
std::optional<T> ReadIntFile(const std::string& path) {
  const std::optional<std::string> text = ReadTextFile(path);
  return text.has_value() ? ParseInt<T>(*text) : std::nullopt;
}

}  // namespace tinyprof
