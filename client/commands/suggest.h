// Did you mean: the word nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tinyprof::client {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
int EditDistance(std::string_view a, std::string_view b);

// The candidate within a third of the word's length (at least 1), or empty.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tinyprof::client
