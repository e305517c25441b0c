// Text for a terminal: what came from models and daemons is made harmless and measured in columns.
#pragma once

#include <string>
#include <string_view>

namespace tinyprof::client {

// Control characters and direction marks as \n, \x1b or \u{202e}; bytes that are no UTF-8 as
// U+FFFD.
std::string Printable(std::string_view text);

// The same, but line breaks stay: for messages that point at a place in a line of their own.
std::string PrintableLines(std::string_view text);

// Bytes that are no UTF-8 replaced by U+FFFD, everything else as it is.
std::string ValidUtf8(std::string_view text);

// Columns that printable text takes: 2 for wide characters, 0 for combining ones.
int DisplayWidth(std::string_view text);

// `text` cut in its middle, with "…" there, to at most `columns` (at least 3).
std::string ShortenMiddle(std::string_view text, int columns);

enum class Align { kLeft, kRight };

// `text` filled with blanks to `columns`.
std::string Pad(std::string_view text, int columns, Align align);

enum class Tone { kPlain, kStrong, kFaint, kGood, kWarn, kBad };

// Colours, or none.
struct Palette {
  bool enabled = false;
  std::string Paint(std::string_view text, Tone tone) const;
};

}  // namespace tinyprof::client
