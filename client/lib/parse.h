// Strict parsers of what people type: durations, percentages, shapes. A value that is not wholly
// understood is INVALID_ARGUMENT with what was got and what is wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof::client {

// "500ms", "10s", "1.5m", "2h": a positive decimal number with its unit, at most 24 h.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);

// "1%", "0.5%": a share between 0 and 1, both excluded but 100 % allowed.
Result<double> ParsePercent(std::string_view text);

// An input and the shape given for it; `name` is empty for the only input.
struct NamedShape {
  std::string name;
  std::vector<int64_t> dims;
};

// "NAME=1x3x224x224" or "32x784"; dimensions are at least 1, at most 16 of them.
Result<NamedShape> ParseInputShape(std::string_view text);

}  // namespace tinyprof::client
