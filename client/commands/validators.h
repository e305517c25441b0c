// Checks of numbers on the command line. CLI11's own take "-1" for an unsigned number, "010" for
// eight and "nan" for being in every range.
#pragma once

#include <cstdint>

namespace CLI {
class Validator;
}

namespace tinyprof::client {

// A whole number in decimal digits, from `min` to `max`.
CLI::Validator WholeNumber(uint64_t min, uint64_t max);

// A decimal number, such as 0.001 or 1e-3, from `min` to `max`.
CLI::Validator DecimalNumber(double min, double max);

}  // namespace tinyprof::client
