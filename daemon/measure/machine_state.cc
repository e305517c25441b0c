#include "daemon/measure/machine_state.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "daemon/counters/fact_files.h"
#include "daemon/counters/system_facts.h"
#include "kernels/base/words.h"
#include "kernels/probes/clock.h"
#include "kernels/probes/ping_pong.h"

namespace tinyprof {
namespace {

constexpr int kClockSamples = 9;
constexpr int kRoundTrips = 2000;
// Near and far core pairs of a shared host differ by much more than this, one pair by less.
constexpr double kPingPongFactor = 2;

std::optional<int64_t> ReadStealNs(const std::string& root) {
  std::ifstream file(root + "/proc/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return StealNs(text, sysconf(_SC_CLK_TCK));
}

// The best of several: a sample in which a thread was interrupted is only ever slower.
double CoreClockHz(int threads) {
  double best_hz = 0;
  for (int i = 0; i < kClockSamples; ++i) {
    best_hz = std::max(best_hz, SampleClockHz(threads));
  }
  return best_hz;
}

// A kernel event is no part of what the machine's state tells, so none is opened.
SystemFacts QuietFacts(const std::string& root) {
  SystemProbe probe;
  probe.root = root;
  probe.open_hardware_event = [] { return 0; };
  probe.open_software_event = [] { return 0; };
  return GatherFacts(probe);
}

}  // namespace

std::optional<int64_t> StealNs(const std::string& proc_stat, int64_t ticks_per_second) {
  // "cpu user nice system idle iowait irq softirq steal ..."
  std::istringstream words(proc_stat);
  std::string label;
  words >> label;
  int64_t ticks = 0;
  for (int field = 0; field < 8; ++field) {
    if (!(words >> ticks)) {
      return std::nullopt;
    }
  }
  if (label != "cpu" || ticks_per_second <= 0) {
    return std::nullopt;
  }
  return ticks * (1'000'000'000 / ticks_per_second);
}

int64_t InvoluntarySwitches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

int64_t MaxResidentBytes() {
  // Of this program alone: ru_maxrss begins with the peak of the process that started it.
  const std::optional<std::string> peak = LineAfter("/proc/self/status", "VmHWM:");
  const std::optional<int64_t> kibibytes = peak ? ParseInt<int64_t>(*peak) : std::nullopt;
  if (kibibytes) return *kibibytes * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

void WarnOfCalibration(const CalibrationPeak& peak, RunMeasurement& run) {
  if (peak.after_bytes > peak.before_bytes && run.max_resident_bytes == peak.after_bytes) {
    run.warnings.push_back(fmt::format(
        "the largest resident memory was reached while counters were calibrated, before the first "
        "pass: the model alone took less than these {}",
        SizeText(run.max_resident_bytes)));
  }
}

MachineWatch::MachineWatch(const MeasureOptions& options, std::string root)
    : options_(options), root_(std::move(root)) {
  const SystemFacts facts = QuietFacts(root_);
  state_.load_average = facts.load_average.value_or(0);
  state_.huge_pages = facts.huge_pages;
  state_.clock_hz = CoreClockHz(options.threads);
  state_.ping_pong_before_ns = PingPongNs(warnings_);
  steal_before_ns_ = ReadStealNs(root_);
}

std::optional<double> MachineWatch::PingPongNs(std::vector<std::string>& warnings) const {
  if (options_.threads < 2 || options_.cpus.size() < 2) {
    return std::nullopt;
  }
  const Result<PingPongResult> result =
      MeasurePingPong(options_.cpus[0], options_.cpus[1], kRoundTrips);
  if (!result.has_value()) {
    warnings.push_back(
        fmt::format("the core-to-core latency is not known: {}", result.error().message));
    return std::nullopt;
  }
  return result->median_ns;
}

MachineState MachineWatch::Finish(std::vector<std::string>& warnings) {
  warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
  state_.ping_pong_after_ns = PingPongNs(warnings);
  if (state_.ping_pong_before_ns.has_value() && state_.ping_pong_after_ns.has_value()) {
    const double before_ns = *state_.ping_pong_before_ns;
    const double after_ns = *state_.ping_pong_after_ns;
    if (std::max(before_ns, after_ns) > kPingPongFactor * std::min(before_ns, after_ns)) {
      warnings.push_back(fmt::format(
          "the core-to-core latency changed from {:.0f} ns to {:.0f} ns while the run measured: "
          "the "
          "host moved a CPU, and two-thread figures of this run are not comparable to others",
          before_ns, after_ns));
    }
  }
  const std::optional<int64_t> steal_after_ns = ReadStealNs(root_);
  if (steal_before_ns_.has_value() && steal_after_ns.has_value()) {
    state_.steal_ns = static_cast<double>(*steal_after_ns - *steal_before_ns_);
  }
  return state_;
}

}  // namespace tinyprof
