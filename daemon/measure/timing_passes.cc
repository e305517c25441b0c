#include "daemon/measure/timing_passes.h"

#include <algorithm>
#include <cmath>

namespace tinyprof {
namespace {

constexpr int32_t kWarmupPasses = 3;
constexpr int64_t kWarmupNs = 200'000'000;
// Precision does not stop a run before this, so that the tail of the distribution is seen.
constexpr int64_t kShortestRoundsNs = 200'000'000;
constexpr int64_t kMaxPasses = 100'000;
constexpr int64_t kMaxLayerSamples = 4'000'000;  // of all layers, 32 MB
constexpr int kRepeatingPasses = 15;
constexpr int kLeastRepeatingPasses = 3;
constexpr int64_t kMaxRepeats = 10'000;
// A team on a busy machine takes up to a time slice to start; the run's time is for its own layers.
constexpr size_t kLeastEmptyRounds = 3;
constexpr size_t kMostEmptyRounds = 1'000;
constexpr int64_t kEmptyBudgetNs = 5'000'000;
constexpr int64_t kProgressIntervalNs = 100'000'000;

int64_t MaxPasses(size_t node_count) {
  const int64_t fitting = kMaxLayerSamples / static_cast<int64_t>(node_count + 1);
  return std::clamp(fitting, StoppingRule::kMinPassesForPrecision, kMaxPasses);
}

}  // namespace

Status CheckCancelled(const MeasureHooks& hooks) {
  if (hooks.cancelled && hooks.cancelled()) {
    return Fail(ErrorCode::kCancelled, "CANCELLED", "the run was cancelled while it measured");
  }
  return {};
}

TimingPasses::TimingPasses(Workload& workload, Workload* empty_layers, Clock& clock,
                           SoftwareMonitor& software, const PreemptionCounter& preemptions,
                           const MeasureOptions& options, const MeasureHooks& hooks)
    : workload_(workload),
      empty_layers_(empty_layers),
      clock_(clock),
      software_(software),
      preemptions_(preemptions),
      options_(options),
      hooks_(hooks),
      position_count_(workload.node_count() +
                      (empty_layers == nullptr ? 0 : empty_layers->node_count())),
      stamps_ns_(workload.node_count() + 1),
      empty_ns_(position_count_ - workload.node_count()),
      repeated_ns_(position_count_),
      first_layer_ns_(workload.node_count()) {
  quiet_.layer_ns.resize(workload.node_count());
  disturbed_.layer_ns.resize(workload.node_count());
}

Result<TimingResult> TimingPasses::Run(const TimingDeadlines& deadlines) {
  result_ = {};
  result_.read_cost_ns = CalibrateReadCostNs(clock_);
  FirstPass();
  TINYPROF_RETURN_IF_ERROR(WarmUp(deadlines.warmup_ns));
  TINYPROF_RETURN_IF_ERROR(Rounds(deadlines.rounds_ns));

  double first_pass_ns = 0;
  for (const double layer_ns : first_layer_ns_) {
    first_pass_ns += layer_ns;
  }
  result_.time = SummarizeTimes(quiet_.bare_ns);
  result_.time.first_pass_ns = first_pass_ns;
  result_.timing = static_cast<int32_t>(quiet_.bare_ns.size());
  result_.instrumented_pass_ns = Median(quiet_.instrumented_ns);
  result_.bare_half_width = RelativeHalfWidth(quiet_.bare_ns);
  result_.instrumented_half_width = RelativeHalfWidth(quiet_.instrumented_ns);
  SummarizeLayers();
  TINYPROF_RETURN_IF_ERROR(ShortLayers(deadlines.short_layers_ns));
  const auto first_empty = summaries_.begin() + static_cast<ptrdiff_t>(workload_.node_count());
  result_.layers.assign(summaries_.begin(), first_empty);
  result_.empty_layers.assign(first_empty, summaries_.end());
  return std::move(result_);
}

void TimingPasses::FirstPass() {
  Prepare();
  for (size_t node = 0; node < workload_.node_count(); ++node) {
    if (hooks_.entering_layer_first_time) {
      hooks_.entering_layer_first_time(node);
    }
    const int64_t begin_ns = clock_.NowNs();
    workload_.RunNode(node);
    const auto elapsed_ns = static_cast<double>(clock_.NowNs() - begin_ns);
    first_layer_ns_[node] = std::max(0.0, elapsed_ns - result_.read_cost_ns);
  }
}

Status TimingPasses::WarmUp(int64_t deadline_ns) {
  const int64_t begin_ns = clock_.NowNs();
  int64_t now_ns = 0;
  do {
    TINYPROF_RETURN_IF_ERROR(CheckCancelled(hooks_));
    ReportProgress("warm-up", result_.warmup, 0);
    Prepare();
    workload_.RunAll();
    ++result_.warmup;
    now_ns = clock_.NowNs();
  } while (now_ns < deadline_ns &&
           (result_.warmup < kWarmupPasses || now_ns - begin_ns < kWarmupNs));
  return {};
}

Status TimingPasses::Rounds(int64_t deadline_ns) {
  const int64_t begin_ns = clock_.NowNs();
  const int64_t most_passes = MaxPasses(workload_.node_count());
  StoppingRule rule(
      {.precision = options_.precision,
       .earliest_ns = begin_ns + std::min(kShortestRoundsNs,
                                          std::max<int64_t>(0, deadline_ns - begin_ns) / 10),
       .deadline_ns = deadline_ns,
       .max_passes = most_passes});
  std::optional<std::string_view> stop;
  while (!stop.has_value()) {
    TINYPROF_RETURN_IF_ERROR(CheckCancelled(hooks_));
    Round();
    const Samples& judged = Judged();
    stop = rule.Check(judged.bare_ns, judged.instrumented_ns, clock_.NowNs());
    ReportProgress("timing", static_cast<int>(judged.bare_ns.size()), rule.precision_reached());
  }
  result_.stopped_by = *stop;
  result_.reached_most_passes = std::ssize(Judged().bare_ns) >= most_passes;
  ChooseSamples();
  return {};
}

const TimingPasses::Samples& TimingPasses::Judged() const {
  const size_t quiet = quiet_.bare_ns.size();
  const bool enough = quiet >= static_cast<size_t>(StoppingRule::kMinPassesForPrecision);
  return enough || quiet >= disturbed_.bare_ns.size() ? quiet_ : disturbed_;
}

void TimingPasses::ChooseSamples() {
  if (&Judged() == &quiet_) {
    result_.discarded = static_cast<int32_t>(disturbed_.bare_ns.size());
    return;
  }
  result_.never_quiet = true;
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(quiet_.bare_ns, disturbed_.bare_ns);
  append(quiet_.instrumented_ns, disturbed_.instrumented_ns);
  for (size_t node = 0; node < workload_.node_count(); ++node) {
    append(quiet_.layer_ns[node], disturbed_.layer_ns[node]);
  }
}

void TimingPasses::Round() {
  const size_t nodes = workload_.node_count();
  const int64_t preemptions_before = Preemptions();
  Prepare();
  software_.BeginPass();
  const int64_t begin_ns = clock_.NowNs();
  workload_.RunAll();
  const int64_t end_ns = clock_.NowNs();
  const bool stayed = software_.EndPass();

  Prepare();
  stamps_ns_[0] = clock_.NowNs();
  for (size_t node = 0; node < nodes; ++node) {
    workload_.RunNode(node);
    stamps_ns_[node + 1] = clock_.NowNs();
  }
  const bool quiet = stayed && Preemptions() == preemptions_before;
  TimeEmptyLayers();
  Samples& samples = quiet ? quiet_ : disturbed_;

  const double cost_ns = result_.read_cost_ns;
  samples.bare_ns.push_back(std::max(0.0, static_cast<double>(end_ns - begin_ns) - cost_ns));
  samples.instrumented_ns.push_back(
      std::max(0.0, static_cast<double>(stamps_ns_[nodes] - stamps_ns_[0]) -
                        cost_ns * static_cast<double>(nodes)));
  for (size_t node = 0; node < nodes; ++node) {
    const auto elapsed_ns = static_cast<double>(stamps_ns_[node + 1] - stamps_ns_[node]);
    samples.layer_ns[node].push_back(std::max(0.0, elapsed_ns - cost_ns));
  }
}

void TimingPasses::TimeEmptyLayers() {
  if (empty_ns_.empty()) return;
  const size_t rounds = empty_ns_[0].size();
  if (rounds >= kMostEmptyRounds) return;
  if (rounds >= kLeastEmptyRounds && empty_spent_ns_ >= kEmptyBudgetNs) return;
  for (size_t layer = 0; layer < empty_ns_.size(); ++layer) {
    const int64_t begin_ns = clock_.NowNs();
    empty_layers_->RunNode(layer);
    const int64_t elapsed_ns = clock_.NowNs() - begin_ns;
    empty_ns_[layer].push_back(
        std::max(0.0, static_cast<double>(elapsed_ns) - result_.read_cost_ns));
    empty_spent_ns_ += elapsed_ns;
  }
}

void TimingPasses::RunAt(size_t position) {
  const size_t nodes = workload_.node_count();
  if (position < nodes) {
    workload_.RunNode(position);
  } else {
    empty_layers_->RunNode(position - nodes);
  }
}

void TimingPasses::SummarizeLayers() {
  summaries_.clear();
  for (size_t position = 0; position < position_count_; ++position) {
    if (position >= workload_.node_count()) {
      summaries_.push_back(SummarizeTimes(empty_ns_[position - workload_.node_count()]));
      continue;
    }
    summaries_.push_back(SummarizeTimes(quiet_.layer_ns[position]));
    summaries_[position].first_pass_ns = first_layer_ns_[position];
    if (IsShort(summaries_[position])) result_.short_layers.push_back(position);
  }
}

Status TimingPasses::ShortLayers(int64_t deadline_ns) {
  // A repeated layer finds its operands in the caches, which is what a cold run must not measure.
  if (std::none_of(summaries_.begin(), summaries_.end(),
                   [this](const TimeStats& layer) { return IsShort(layer); }) ||
      options_.cache == CacheMode::kCold) {
    return {};
  }
  std::vector<int64_t> repeats;
  for (const TimeStats& layer : summaries_) {
    const double once_ns = std::max(layer.median_ns, 1.0);
    const double wanted = std::ceil(kShortLayerReads * result_.read_cost_ns / once_ns);
    repeats.push_back(
        IsShort(layer) ? std::clamp(static_cast<int64_t>(wanted), int64_t{2}, kMaxRepeats) : 1);
  }
  for (int pass = 0; pass < kRepeatingPasses; ++pass) {
    if (pass >= kLeastRepeatingPasses && clock_.NowNs() >= deadline_ns) {
      break;
    }
    TINYPROF_RETURN_IF_ERROR(CheckCancelled(hooks_));
    RepeatingPass(repeats);
  }
  for (size_t position = 0; position < position_count_; ++position) {
    if (repeats[position] == 1) continue;
    const double first_pass_ns = summaries_[position].first_pass_ns;
    summaries_[position] = SummarizeTimes(repeated_ns_[position]);
    summaries_[position].first_pass_ns = first_pass_ns;
  }
  result_.repeated_short_layers = !result_.short_layers.empty();
  return {};
}

void TimingPasses::RepeatingPass(const std::vector<int64_t>& repeats) {
  for (size_t position = 0; position < position_count_; ++position) {
    const int64_t begin_ns = clock_.NowNs();
    for (int64_t i = 0; i < repeats[position]; ++i) {
      RunAt(position);
    }
    const int64_t end_ns = clock_.NowNs();
    if (repeats[position] > 1) {
      const double all_ns = static_cast<double>(end_ns - begin_ns) - result_.read_cost_ns;
      repeated_ns_[position].push_back(std::max(0.0, all_ns) /
                                       static_cast<double>(repeats[position]));
    }
  }
}

void TimingPasses::Prepare() {
  if (options_.cache == CacheMode::kCold) {
    workload_.FlushCaches();
  }
}

void TimingPasses::ReportProgress(std::string_view phase, int done, double precision_reached) {
  const int64_t now_ns = clock_.NowNs();
  if (!hooks_.progress || (done > 0 && now_ns - last_progress_ns_ < kProgressIntervalNs)) {
    return;
  }
  last_progress_ns_ = now_ns;
  hooks_.progress({.phase = phase, .done = done, .precision_reached = precision_reached});
}

}  // namespace tinyprof
