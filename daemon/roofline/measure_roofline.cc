#include "daemon/roofline/measure_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "kernels/base/words.h"
#include "kernels/probes/bandwidth.h"
#include "kernels/probes/clock.h"
#include "kernels/probes/peak_flops.h"
#include "kernels/probes/ping_pong.h"
#include "kernels/runtime/team.h"

namespace tinyprof {
namespace {

// A mixed peak is a ceiling of its own when it is this much above FMAs alone.
constexpr double kMixedGain = 1.02;
constexpr double kNoisySpread = 0.1;
constexpr int64_t kFallbackMemoryBytes = int64_t{1} << 30;
constexpr MemoryOp kOps[] = {MemoryOp::kLoad, MemoryOp::kCopy, MemoryOp::kTriad,
                             MemoryOp::kCopyNonTemporal, MemoryOp::kTriadNonTemporal};

// Which loops stand for a ceiling; those the CPU lacks are passed over.
struct PeakRecipe {
  std::string_view name;
  std::vector<std::string_view> loops;  // the best of them is the ceiling
  std::string_view only_above;          // kept if kMixedGain above the ceiling of this name
};

const std::vector<PeakRecipe>& PeakRecipes() {
  static const std::vector<PeakRecipe> recipes = {
#if defined(__aarch64__)
    {"scalar", {"scalar_fma"}, ""},
#else
    {"scalar", {"scalar_mul_add"}, ""},
    {"scalar_fma", {"scalar_fma"}, ""},
#endif
    {"sse", {"sse_mul_add"}, ""},
    {"avx2", {"avx2_fma"}, ""},
    {"avx2_fma_add", {"avx2_fma_add", "avx2_fma2_add"}, "avx2"},
    {"avx512", {"avx512_fma"}, ""},
    {"avx512_fma_add", {"avx512_fma_add", "avx512_fma2_add"}, "avx512"},
    {"neon", {"neon_fma"}, ""},
    {"neon_fma_add", {"neon_fma_add", "neon_fma2_add"}, "neon"}
  };
  return recipes;
}

std::vector<const FlopLoop*> LoopsOf(const PeakRecipe& recipe, DType dtype) {
  std::vector<const FlopLoop*> loops;
  for (const std::string_view name : recipe.loops) {
    if (const FlopLoop* loop = FindFlopLoop(fmt::format("{}_{}", name, Name(dtype)))) {
      loops.push_back(loop);
    }
  }
  return loops;
}

// Non-temporal stores go past the caches: they say nothing of L1 to L3.
bool OpApplies(MemoryOp op, MemoryLevel level) {
  return level == MemoryLevel::kDram || !IsNonTemporal(op);
}

// The two widest loops of `op`: on some cores the narrower one of them is the faster.
std::vector<const MemoryLoop*> WidestLoops(MemoryOp op) {
  std::vector<const MemoryLoop*> loops;
  for (const MemoryLoop& loop : HostMemoryLoops()) {
    if (loop.op == op) loops.push_back(&loop);
  }
  if (loops.size() > 2) loops.erase(loops.begin(), loops.end() - 2);
  return loops;
}

class RooflineMeasurement {
 public:
  explicit RooflineMeasurement(const RooflineOptions& options) : options_(options) {}

  Result<Roofline> Run() {
    roofline_.measured = std::chrono::system_clock::now();
    roofline_.host = ReadHostInfo(options_.root, options_.cpus);
    roofline_.fingerprint = Fingerprint(roofline_.host);
    if (options_.max_threads > 1) thread_counts_.push_back(options_.max_threads);
    CountSteps();
    for (const int threads : thread_counts_) {
      TINYPROF_RETURN_IF_ERROR(PinTeam(options_.cpus, threads));
      if (threads == 1) roofline_.clock_hz = MeasureClock(1, options_.peak_budget).best;
      TINYPROF_RETURN_IF_ERROR(MeasurePeaks(threads));
      TINYPROF_RETURN_IF_ERROR(MeasureBandwidths(threads));
    }
    MeasureRoundTrip();
    roofline_.ridge = RidgesOf(roofline_);
    return std::move(roofline_);
  }

 private:
  std::vector<WorkingSet> PlanFor(int threads) const {
    const int64_t available = ReadAvailableMemory(options_.root).value_or(kFallbackMemoryBytes);
    const auto team = std::span(options_.cpus).first(static_cast<size_t>(threads));
    return PlanWorkingSets(roofline_.host.caches, team,
                           std::min(available, options_.memory_limit_bytes));
  }

  void CountSteps() {
    for (const PeakRecipe& recipe : PeakRecipes()) {
      for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
        if (!LoopsOf(recipe, dtype).empty()) total_ += static_cast<int>(thread_counts_.size());
      }
    }
    for (const int threads : thread_counts_) {
      const std::vector<WorkingSet> plan = PlanFor(threads);
      if (!plan.empty()) ++total_;  // the streams
      for (const WorkingSet& set : plan) {
        total_ +=
            static_cast<int>(std::count_if(std::begin(kOps), std::end(kOps),
                                           [&](MemoryOp op) { return OpApplies(op, set.level); }));
      }
    }
  }

  Status Step(const std::string& name) {
    if (options_.progress && !options_.progress(name, done_, total_)) {
      return Fail(ErrorCode::kCancelled, "CANCELLED", "measuring the roofline was cancelled");
    }
    ++done_;
    return {};
  }

  Status MeasurePeaks(int threads) {
    for (const PeakRecipe& recipe : PeakRecipes()) {
      for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
        const std::vector<const FlopLoop*> loops = LoopsOf(recipe, dtype);
        if (loops.empty()) continue;
        TINYPROF_RETURN_IF_ERROR(
            Step(fmt::format("{} {}, threads: {}", recipe.name, Name(dtype), threads)));
        AddPeak(recipe, dtype, loops, threads);
      }
    }
    return {};
  }

  void AddPeak(const PeakRecipe& recipe, DType dtype, std::span<const FlopLoop* const> loops,
               int threads) {
    PeakCeiling ceiling{.name = std::string(recipe.name), .dtype = dtype, .threads = threads};
    double spread = 0;
    for (const FlopLoop* loop : loops) {
      const PeakResult peak = MeasurePeak(*loop, threads, options_.peak_budget);
      if (peak.flops_per_second.best <= ceiling.peak_flops_per_second) continue;
      ceiling.flops_per_cycle = peak.flops_per_cycle * threads;
      ceiling.peak_flops_per_second = peak.flops_per_second.best;
      ceiling.median_flops_per_second = peak.flops_per_second.median;
      ceiling.clock_hz = peak.clock_hz;
      spread = peak.flops_per_second.relative_spread;
    }
    if (!recipe.only_above.empty()) {
      const PeakCeiling* pure = FindPeak(roofline_, recipe.only_above, dtype, threads);
      if (pure && ceiling.peak_flops_per_second < kMixedGain * pure->peak_flops_per_second) return;
    }
    WarnIfNoisy(
        fmt::format("the {} {} peak with {}", recipe.name, Name(dtype), Counted(threads, "thread")),
        spread);
    roofline_.isa.push_back(std::move(ceiling));
  }

  Status MeasureBandwidths(int threads) {
    std::vector<WorkingSet> plan = PlanFor(threads);
    Result<BandwidthProbe> probe = MakeProbe(threads, plan);
    if (!probe) {
      roofline_.warnings.push_back(fmt::format("no bandwidth with {}: {}",
                                               Counted(threads, "thread"), probe.error().message));
      return {};
    }
    for (const WorkingSet& set : plan) {
      for (const MemoryOp op : kOps) {
        if (!OpApplies(op, set.level)) continue;
        TINYPROF_RETURN_IF_ERROR(
            Step(fmt::format("{} {}, threads: {}", Name(set.level), Name(op), threads)));
        TINYPROF_RETURN_IF_ERROR(AddBandwidth(*probe, set, op));
      }
    }
    return plan.empty() ? Status() : AddStreams(*probe, threads, plan.back().bytes_per_thread);
  }

  Status AddStreams(BandwidthProbe& probe, int threads, int64_t most_bytes) {
    TINYPROF_RETURN_IF_ERROR(Step(fmt::format("sets read again, threads: {}", threads)));
    const size_t first = roofline_.streams.size();
    for (const int64_t bytes : StreamSets(threads, most_bytes)) {
      TINYPROF_ASSIGN_OR_RETURN(
          const BandwidthResult result,
          probe.Measure({MemoryLevel::kDram, bytes}, WidestLoops(MemoryOp::kLoad),
                        options_.stream_budget));
      roofline_.streams.push_back(
          {threads, result.working_set_bytes, result.bytes_per_second.best});
    }
    RaiseToCeilings(DramLoadRate(threads), std::span(roofline_.streams).subspan(first));
    return {};
  }

  double DramLoadRate(int threads) const {
    for (const BandwidthCeiling& ceiling : roofline_.bandwidth) {
      if (ceiling.level == MemoryLevel::kDram && ceiling.op == MemoryOp::kLoad &&
          ceiling.threads == threads) {
        return ceiling.bytes_per_second;
      }
    }
    return 0;
  }

  // Memory for the whole plan; without DRAM, which needs by far the most, when there is too little.
  Result<BandwidthProbe> MakeProbe(int threads, std::vector<WorkingSet>& plan) {
    if (plan.empty() || plan.back().level != MemoryLevel::kDram) {
      roofline_.warnings.push_back(fmt::format(
          "no DRAM bandwidth with {}: too little memory is free, or allowed by tinyprofd's "
          "memory_limit, to pass the caches; mend that, then `tinyprof-client roofline --measure`",
          Counted(threads, "thread")));
    }
    const auto largest = [&plan] {
      int64_t bytes = kWorkingSetGranule;
      for (const WorkingSet& set : plan) bytes = std::max(bytes, set.bytes_per_thread);
      return bytes;
    };
    Result<BandwidthProbe> probe = BandwidthProbe::Create(threads, largest());
    if (probe || plan.empty() || plan.back().level != MemoryLevel::kDram) return probe;
    roofline_.warnings.push_back(fmt::format("no DRAM bandwidth with {}: {}",
                                             Counted(threads, "thread"), probe.error().message));
    plan.pop_back();
    return BandwidthProbe::Create(threads, largest());
  }

  Status AddBandwidth(BandwidthProbe& probe, const WorkingSet& set, MemoryOp op) {
    const TrialBudget& budget =
        set.level == MemoryLevel::kDram ? options_.dram_budget : options_.cache_budget;
    TINYPROF_ASSIGN_OR_RETURN(const BandwidthResult result,
                              probe.Measure(set, WidestLoops(op), budget));
    WarnIfNoisy(
        fmt::format("{} {} with {}", Name(set.level), Name(op), Counted(result.threads, "thread")),
        result.bytes_per_second.relative_spread);
    roofline_.bandwidth.push_back({.level = set.level,
                                   .op = op,
                                   .threads = result.threads,
                                   .bytes_per_second = result.bytes_per_second.best,
                                   .median_bytes_per_second = result.bytes_per_second.median,
                                   .working_set_bytes = result.working_set_bytes / result.threads});
    return {};
  }

  void MeasureRoundTrip() {
    if (options_.max_threads < 2) return;
    const auto result =
        MeasurePingPong(options_.cpus[0], options_.cpus[1], options_.ping_pong_round_trips);
    if (result) {
      roofline_.ping_pong_ns = result->median_ns;
    } else {
      roofline_.warnings.push_back("no core-to-core round trip: " + result.error().message);
    }
  }

  void WarnIfNoisy(const std::string& what, double spread) {
    if (spread <= kNoisySpread) return;
    roofline_.warnings.push_back(fmt::format(
        "trials of {} differed by {:.0f} %: the machine was not quiet", what, 100 * spread));
  }

  const RooflineOptions& options_;
  std::vector<int> thread_counts_{1};
  Roofline roofline_;
  int done_ = 0;
  int total_ = 0;
};

}  // namespace

RooflineOptions RooflineOptions::Quick(std::vector<int> cpus, int max_threads) {
  constexpr TrialBudget kBrief{.total_ns = 2'000'000, .min_trials = 2};
  RooflineOptions options;
  options.cpus = std::move(cpus);
  options.max_threads = max_threads;
  options.peak_budget = kBrief;
  options.cache_budget = kBrief;
  options.dram_budget = kBrief;
  options.stream_budget = kBrief;
  options.ping_pong_round_trips = 1'000;
  options.memory_limit_bytes = int64_t{512} << 20;
  return options;
}

Result<Roofline> MeasureRoofline(const RooflineOptions& options) {
  if (options.max_threads < 1 || std::ssize(options.cpus) < options.max_threads) {
    return Fail(ErrorCode::kInvalidArgument, "TOO_FEW_CPUS",
                fmt::format("a roofline for {} needs as many CPUs and at least one thread, got {}",
                            Counted(options.max_threads, "thread"),
                            Counted(std::ssize(options.cpus), "CPU")));
  }
  return RooflineMeasurement(options).Run();
}

}  // namespace tinyprof
