// Numbers for people: one unit a column, thousands in groups, and never a 0 that is not one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tinyprof::client {

// How every number of one column is written: value / divisor with `decimals` behind the point.
struct Scale {
  double divisor = 1;
  std::string
      prefix;  // "", "k", "M", "G", "T" or, for times, the unit itself: "ns", "µs", "ms", "s"
  int decimals = 0;
};

// The scale in which the largest magnitude lies between 1 and 1000. Whole small numbers have no
// decimals.
Scale CountScale(std::span<const double> values);
// The same over nanoseconds.
Scale TimeScale(std::span<const double> values_ns);

// `value` in `scale`; a value too small for its decimals is "<0.01", not 0.
std::string Format(double value, const Scale& scale);

// "11,689,512".
std::string Grouped(int64_t value);
// "3.63 GFLOP": three significant digits with a decimal prefix; "<0.01 FLOP" for less than that.
std::string Si(double value, std::string_view unit);
// "1.50 MiB".
std::string Bytes(double bytes);
// "1.23 ms".
std::string Time(double ns);
// "1.83 %" of 0.0183.
std::string Percent(double share);

}  // namespace tinyprof::client
