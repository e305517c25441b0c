// When enough passes have been timed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tinyprof {

struct StoppingOptions {
  double precision = 0.01;       // half-width of the interval over the median
  int64_t earliest_ns = 0;       // clock time before which precision alone does not stop
  int64_t deadline_ns = 0;       // clock time after which nothing goes on
  int64_t max_passes = 100'000;  // counts as the end of the budget
};

class StoppingRule {
 public:
  // Fewer passes say nothing of spread; the budget may end at 3, precision only at 5, where the
  // interval is still the whole range.
  static constexpr int64_t kMinPasses = 3;
  static constexpr int64_t kMinPassesForPrecision = 5;

  explicit StoppingRule(const StoppingOptions& options) : options_(options) {}

  // "precision" or "budget" once both series are done, nothing while they are not. Both have one
  // sample for each pass so far. Intervals are looked at when the passes have grown by a tenth
  // since the last look, so that looking stays cheap.
  std::optional<std::string_view> Check(std::span<const double> bare,
                                        std::span<const double> instrumented, int64_t now_ns);

  // Share of the wanted precision that the last look found, 0 to 1.
  double precision_reached() const { return precision_reached_; }

 private:
  StoppingOptions options_;
  int64_t next_look_ = kMinPassesForPrecision;
  double precision_reached_ = 0;
};

}  // namespace tinyprof
