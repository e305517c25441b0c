// Names of runs.
#pragma once

#include <cstdint>
#include <string>

namespace tinyprof {

// 9 characters of time and 7 of chance, in a base-32 alphabet whose order is that of ASCII and that
// has none of the letters that look like digits. Ids sort by creation time to the millisecond; two
// of the same millisecond differ with a chance of all but 2^-35. `random_bits`: the low 35 are
// used.
std::string MakeRunId(int64_t unix_time_ms, uint64_t random_bits);

// The same, of now and of the system's source of randomness.
std::string NewRunId();

}  // namespace tinyprof
