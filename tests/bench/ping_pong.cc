// The round trip of a cache line between the first two cores that a team of two would get: figures
// of two threads can be compared only where it is alike.
//
// Usage: ping_pong
#include "kernels/probes/ping_pong.h"

#include <fmt/format.h>

#include <vector>

#include "kernels/runtime/team.h"

int main() {
  const std::vector<int> cores = tinyprof::UsableCores();
  if (cores.size() < 2) {
    fmt::print("core to core: only one core is to be had\n");
    return 0;
  }
  const auto result = tinyprof::MeasurePingPong(cores[0], cores[1], 20000);
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().message);
    return 1;
  }
  fmt::print("core to core ({} and {}): {:.0f} ns a round trip, at best {:.0f}\n", cores[0],
             cores[1], result->median_ns, result->min_ns);
  return 0;
}
