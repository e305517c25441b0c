#include "client/render/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tinyprof::client {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct CodePoint {
  char32_t value = 0;
  size_t size_bytes = 1;
  bool valid = false;
};

// The code point at the start of `text`, which is not empty; overlong forms and surrogates are
// invalid.
CodePoint Decode(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return {first, 1, true};
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
  char32_t value = first & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    value = value << 6 | (next & 0x3fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kSmallest[size] || value > 0x10ffff || surrogate) return {};
  return {value, size, true};
}

bool In(char32_t value, char32_t low, char32_t high) { return value >= low && value <= high; }

// Characters that move the cursor, change colours or turn the direction of text around.
bool IsControl(char32_t c) {
  return c < 0x20 || In(c, 0x7f, 0x9f) || In(c, 0x200e, 0x200f) || In(c, 0x2028, 0x202e) ||
         In(c, 0x2066, 0x2069) || c == 0xfeff;
}

bool IsWide(char32_t c) {
  return In(c, 0x1100, 0x115f) || In(c, 0x2e80, 0xa4cf) || In(c, 0xac00, 0xd7a3) ||
         In(c, 0xf900, 0xfaff) || In(c, 0xfe30, 0xfe6f) || In(c, 0xff00, 0xff60) ||
         In(c, 0x1f300, 0x1faff) || In(c, 0x20000, 0x3fffd);
}

int WidthOf(char32_t c) {
  if (In(c, 0x300, 0x36f) || In(c, 0x200b, 0x200d) || In(c, 0xfe00, 0xfe0f)) return 0;
  return IsWide(c) ? 2 : 1;
}

std::string Escape(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return c < 0x100 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
                       : fmt::format("\\u{{{:x}}}", static_cast<uint32_t>(c));
  }
}

std::string Rewrite(std::string_view text, bool escape_controls) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = Decode(text);
    if (!point.valid) {
      result += kReplacement;
    } else if (escape_controls && IsControl(point.value)) {
      result += Escape(point.value);
    } else {
      result += text.substr(0, point.size_bytes);
    }
    text.remove_prefix(point.size_bytes);
  }
  return result;
}

// The longest prefix of `text` within `columns`, in bytes.
size_t PrefixWithin(std::string_view text, int columns) {
  size_t used = 0;
  while (used < text.size()) {
    const CodePoint point = Decode(text.substr(used));
    columns -= WidthOf(point.value);
    if (columns < 0) break;
    used += point.size_bytes;
  }
  return used;
}

}  // namespace

std::string Printable(std::string_view text) { return Rewrite(text, true); }

std::string PrintableLines(std::string_view text) {
  std::string lines;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines += Printable(text.substr(0, end));
    if (end == text.size()) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string ValidUtf8(std::string_view text) { return Rewrite(text, false); }

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint point = Decode(text);
    width += WidthOf(point.value);
    text.remove_prefix(point.size_bytes);
  }
  return width;
}

std::string ShortenMiddle(std::string_view text, int columns) {
  const int width = DisplayWidth(text);
  if (width <= columns) return std::string(text);
  const int tail_columns = (columns - 1) / 2;
  std::string_view tail = text;
  for (int left = width; left > tail_columns;) {
    const CodePoint point = Decode(tail);
    left -= WidthOf(point.value);
    tail.remove_prefix(point.size_bytes);
  }
  const std::string_view head = text.substr(0, PrefixWithin(text, columns - 1 - tail_columns));
  return fmt::format("{}…{}", head, tail);
}

std::string Pad(std::string_view text, int columns, Align align) {
  const int missing = columns - DisplayWidth(text);
  const std::string blanks(missing > 0 ? static_cast<size_t>(missing) : 0, ' ');
  return align == Align::kLeft ? fmt::format("{}{}", text, blanks)
                               : fmt::format("{}{}", blanks, text);
}

std::string Palette::Paint(std::string_view text, Tone tone) const {
  if (!enabled || tone == Tone::kPlain) return std::string(text);
  const char* code = "1";
  if (tone == Tone::kFaint) code = "2";
  if (tone == Tone::kGood) code = "32";
  if (tone == Tone::kWarn) code = "33";
  if (tone == Tone::kBad) code = "31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace tinyprof::client
