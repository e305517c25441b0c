#include "daemon/jobs/model_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/roofline/advice.h"
#include "kernels/base/words.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/runtime/session.h"

namespace tinyprof {
namespace {

// ", each without half of its channels": what following the advice means, where its kind does not
// say.
std::string MeaningOf(const std::string& kind, const v1::RunReport& report) {
  if (kind == Name(AdviceKind::kPrune)) return ", each without half of its channels";
  if (kind == Name(AdviceKind::kQuantize)) return ", with weights as int8";
  const bool has_other = report.backend() == Name(Backend::kEigen) && CheckOnednnIsBuilt();
  if (kind == Name(AdviceKind::kKernel) && has_other) return " (`--backend onednn` has others)";
  return "";
}

// Sums up one kind.
class ModelGain {
 public:
  void Add(const v1::Advice& advice, double layer_ns) {
    ++layer_count_;
    most_saved_ns_ += layer_ns * (1 - 1 / advice.max_speedup());
    if (advice.has_speedup()) saved_ns_ = saved_ns_.value_or(0) + SavedNs(advice, layer_ns);
  }

  // Layers and saved times are of the instrumented passes. What is saved is told of the longer end
  // of the pass's interval, which promises less; the limit is that of its median.
  std::optional<v1::Advice> Advise(const std::string& kind, const v1::RunReport& report) const {
    const double pass_ns = report.overhead().instrumented_pass_ns();
    if (most_saved_ns_ >= pass_ns) return std::nullopt;
    v1::Advice advice;
    advice.set_kind(kind);
    advice.set_max_speedup(pass_ns / (pass_ns - most_saved_ns_));
    double percent = 100 * most_saved_ns_ / pass_ns;
    if (saved_ns_) {
      const v1::TimeStats& time = report.time();
      const double long_pass_ns =
          time.median_ns() > 0 ? pass_ns * std::max(1.0, time.ci_high_ns() / time.median_ns())
                               : pass_ns;
      advice.set_speedup(long_pass_ns / (long_pass_ns - *saved_ns_));
      percent = 100 * *saved_ns_ / long_pass_ns;
    }
    advice.set_why(fmt::format("it would save {} {:.0f} % of the pass, in {}{}",
                               saved_ns_ ? "about" : "up to", percent,
                               Counted(layer_count_, "layer"), MeaningOf(kind, report)));
    return advice;
  }

 private:
  static double SavedNs(const v1::Advice& advice, double layer_ns) {
    return layer_ns * (1 - 1 / advice.speedup());
  }

  int layer_count_ = 0;
  std::optional<double> saved_ns_;  // absent where no advice says, as of kernels
  double most_saved_ns_ = 0;
};

double GainOf(const v1::Advice& advice) {
  return advice.has_speedup() ? advice.speedup() : advice.max_speedup();
}

}  // namespace

void AdviseModel(v1::RunReport& report) {
  std::map<std::string, ModelGain> gains;
  for (const v1::LayerReport& layer : report.layers()) {
    for (const v1::Advice& advice : layer.advice()) {
      gains[advice.kind()].Add(advice, layer.time().median_ns());
    }
  }
  std::vector<v1::Advice> model_advice;
  for (const auto& [kind, gain] : gains) {
    std::optional<v1::Advice> advice = gain.Advise(kind, report);
    if (advice && GainOf(*advice) >= kMinSpeedup) model_advice.push_back(*std::move(advice));
  }
  std::stable_sort(model_advice.begin(), model_advice.end(),
                   [](const auto& a, const auto& b) { return GainOf(a) > GainOf(b); });
  report.mutable_advice()->Assign(model_advice.begin(), model_advice.end());
}

}  // namespace tinyprof
