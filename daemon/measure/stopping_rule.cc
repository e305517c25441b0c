#include "daemon/measure/stopping_rule.h"

#include <algorithm>

#include "daemon/measure/statistics.h"

namespace tinyprof {

std::optional<std::string_view> StoppingRule::Check(std::span<const double> bare,
                                                    std::span<const double> instrumented,
                                                    int64_t now_ns) {
  const auto passes = static_cast<int64_t>(std::min(bare.size(), instrumented.size()));
  if (passes < kMinPasses) {
    return std::nullopt;
  }
  const bool budget_over = now_ns >= options_.deadline_ns || passes >= options_.max_passes;
  if (passes >= next_look_ || budget_over) {
    next_look_ = passes + std::max<int64_t>(1, passes / 10);
    const double width = std::max(RelativeHalfWidth(bare), RelativeHalfWidth(instrumented));
    precision_reached_ = width <= options_.precision ? 1 : options_.precision / width;
    if (precision_reached_ >= 1 && passes >= kMinPassesForPrecision &&
        (budget_over || now_ns >= options_.earliest_ns)) {
      return "precision";
    }
  }
  if (budget_over) {
    return "budget";
  }
  return std::nullopt;
}

}  // namespace tinyprof
