// The value syntax of the configuration: sizes, durations, file modes, CPU lists.
//
// All return INVALID_ARGUMENT / "BAD_VALUE" with a message that says what was got and wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

// A decimal integer in [min, max].
Result<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max);

// "4GiB", "64MiB", "512KiB", "1TiB" or plain bytes; at least 1, below 2^63.
Result<int64_t> ParseByteCount(std::string_view text);

// "500ms", "30s", "10m" or "1h", a whole number each; 0 to 24 h.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);

// Three or four octal digits, "0660", of permission bits only.
Result<uint32_t> ParseFileMode(std::string_view text);

}  // namespace tinyprof
