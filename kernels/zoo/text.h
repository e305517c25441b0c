// Small helpers for reading what people type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tinyprof {

std::string_view Trim(std::string_view text);
std::string Lower(std::string_view text);
// Pieces between separators; "" gives one empty piece.
std::vector<std::string_view> SplitText(std::string_view text, char separator);
// A decimal integer that is the whole text and fits in 64 bits, or nothing.
std::optional<int64_t> ParseInt(std::string_view text);
// The names nearest to `word` by edits (insert, delete, replace), at most two and none that is
// further than half of the longer word; for "did you mean".
std::vector<std::string> NearestNames(std::string_view word, std::span<const std::string> names);
// ", did you mean a or b?" for those names; empty when there are none.
std::string DidYouMean(std::string_view word, std::span<const std::string> names);

}  // namespace tinyprof
