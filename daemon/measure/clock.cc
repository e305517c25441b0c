#include "daemon/measure/clock.h"

#include <array>
#include <chrono>

#include "daemon/measure/statistics.h"

namespace tinyprof {
namespace {

class SteadyClock final : public Clock {
 public:
  int64_t NowNs() noexcept override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace

Clock& MonotonicClock() {
  static SteadyClock clock;
  return clock;
}

double CalibrateReadCostNs(Clock& clock) {
  constexpr int kReads = 1000;
  std::array<double, 21> batches{};
  for (double& batch : batches) {
    const int64_t begin_ns = clock.NowNs();
    int64_t end_ns = begin_ns;
    for (int i = 0; i < kReads; ++i) {
      end_ns = clock.NowNs();
    }
    batch = static_cast<double>(end_ns - begin_ns) / kReads;
  }
  return Median(batches);
}

}  // namespace tinyprof
