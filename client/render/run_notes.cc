#include "client/render/run_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "client/render/names.h"
#include "client/render/units.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

constexpr size_t kAdviceShown = 3;

// Of the pass; what saves less is not worth a line.
constexpr double kLeastShare = 0.01;

struct RankedAdvice {
  const v1::Advice* advice;
  std::string why;
  std::string layer;  // empty for the whole model
  double saved_ns;    // at most, where the advice says no more
};

double GainOf(const v1::Advice& advice) {
  return advice.has_speedup() ? advice.speedup() : advice.max_speedup();
}

double SavedNs(const v1::Advice& advice, double median_ns) {
  return GainOf(advice) > 1 ? median_ns * (1 - 1 / GainOf(advice)) : 0;
}

// The advice of this kind; null when there is none.
const v1::Advice* OfKind(const std::string& kind,
                         const google::protobuf::RepeatedPtrField<v1::Advice>& advice) {
  const auto found = std::find_if(advice.begin(), advice.end(),
                                  [&](const auto& item) { return item.kind() == kind; });
  return found == advice.end() ? nullptr : &*found;
}

// A model of one layer is told once, for the reason that the layer gives.
std::vector<RankedAdvice> AllAdvice(const v1::RunReport& report) {
  const bool is_one_layer = report.layers_size() == 1;
  std::vector<RankedAdvice> all;
  for (const auto& advice : report.advice()) {
    const v1::Advice* same =
        is_one_layer ? OfKind(advice.kind(), report.layers(0).advice()) : nullptr;
    all.push_back({&advice, same == nullptr ? advice.why() : same->why(), "",
                   SavedNs(advice, report.time().median_ns())});
  }
  for (const auto& layer : report.layers()) {
    for (const auto& advice : layer.advice()) {
      if (is_one_layer && OfKind(advice.kind(), report.advice()) != nullptr) continue;
      all.push_back({&advice, advice.why(), LayerName(layer.analysis()),
                     SavedNs(advice, layer.time().median_ns())});
    }
  }
  return all;
}

std::vector<RankedAdvice> RankAdvice(const v1::RunReport& report) {
  std::vector<RankedAdvice> ranked = AllAdvice(report);
  const double least_ns = kLeastShare * report.time().median_ns();
  std::erase_if(ranked, [&](const RankedAdvice& item) { return item.saved_ns < least_ns; });
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedAdvice& a, const RankedAdvice& b) {
    return a.saved_ns > b.saved_ns;
  });
  ranked.resize(std::min(ranked.size(), kAdviceShown));
  return ranked;
}

// "this layer about 1.32 times as fast, at most 1.80".
std::string GainText(const v1::Advice& advice, std::string_view what) {
  if (!advice.has_speedup()) {
    return fmt::format("{} at most {:.2f} times as fast", what, advice.max_speedup());
  }
  return fmt::format("{} about {:.2f} times as fast, at most {:.2f}", what, advice.speedup(),
                     advice.max_speedup());
}

std::string AdviceLines(const v1::RunReport& report, const Palette& palette) {
  std::string lines;
  for (const RankedAdvice& item : RankAdvice(report)) {
    const v1::Advice& advice = *item.advice;
    const bool is_batch = advice.kind() == "batch";
    std::string who = "model";
    std::string gain = GainText(advice, is_batch ? "each sample" : "the whole pass");
    if (!item.layer.empty()) {
      who = fmt::format("layer {}", Printable(item.layer));
      gain = GainText(advice, is_batch ? "this layer per sample" : "this layer");
      if (report.time().median_ns() > 0) {
        gain += fmt::format(" ({}{:.0f} % of the pass)", advice.has_speedup() ? "" : "up to ",
                            100 * item.saved_ns / report.time().median_ns());
      }
    }
    lines += fmt::format("{} {}: {}, {}; {}\n", palette.Paint("advice:", Tone::kGood), who,
                         Printable(advice.kind()), gain, Printable(item.why));
  }
  return lines;
}

std::string CountersLine(const v1::RunReport& report) {
  const v1::Counters& c = report.counters();
  if (c.flops().has_value() || c.cycles().has_value() || c.instructions().has_value()) {
    std::string line = fmt::format("counters ({}): {}, {}, instructions {}",
                                   Printable(report.counter_source()), QuantityText(c.flops()),
                                   QuantityText(c.cycles()), QuantityText(c.instructions()));
    if (report.measured_to_analytic().has_value()) {
      line += fmt::format("; measured/analytic {:.4f}", report.measured_to_analytic().value());
    }
    return line + '\n';
  }
  return fmt::format("counters: {}\n", QuantityText(c.flops()));
}

// "memory traffic: 12.0 MiB a pass (whole socket, ...)".
std::string MemoryTrafficLine(const v1::Counters& counters) {
  const v1::Quantity& bytes = counters.dram_bytes();
  if (!bytes.has_value()) {
    // What stops all counting is said once.
    return bytes.reason() == counters.flops().reason()
               ? ""
               : fmt::format("memory traffic: {}\n", QuantityText(bytes));
  }
  std::vector<std::string> remarks;
  if (bytes.formula().starts_with("estimate: ")) remarks.push_back(Printable(bytes.formula()));
  if (!bytes.note().empty()) remarks.push_back(Printable(bytes.note()));
  const std::string beside = remarks.empty() ? "" : fmt::format(" ({})", fmt::join(remarks, "; "));
  return fmt::format("memory traffic: {} a pass{}\n", QuantityText(bytes), beside);
}

// Layers' medians can add up to more than the pass's: each is taken of its own passes.
std::string UnattributedText(double unattributed_ns) {
  return unattributed_ns < 0
             ? fmt::format("the layers' medians add up to {} more than the pass's",
                           Time(-unattributed_ns))
             : fmt::format("{} of the pass belong to no layer", Time(unattributed_ns));
}

// "45.0 ns (2.10 µs on all threads)".
std::string DispatchText(const v1::Overhead& overhead) {
  if (!overhead.has_dispatch_ns()) return "n/a (not measured)";
  std::string text = Time(overhead.dispatch_ns());
  if (overhead.has_team_dispatch_ns()) {
    text += fmt::format(" ({} on all threads)", Time(overhead.team_dispatch_ns()));
  }
  return text;
}

std::string OverheadLine(const v1::Overhead& overhead) {
  return fmt::format(
      "overhead: a reading costs {}, starting a layer {}; {}; instrumented / bare pass {:.3f}\n",
      Time(overhead.read_cost_ns()), DispatchText(overhead),
      UnattributedText(overhead.unattributed_ns()), overhead.instrumented_to_bare());
}

// The contract writes "flop/s"; people read "GFLOP/s" in every table.
std::string UnitForPeople(const std::string& unit) {
  return unit.starts_with("flop") ? "FLOP" + Printable(unit.substr(4)) : Printable(unit);
}

std::string TimeLine(const v1::TimeStats& time) {
  return fmt::format("time: median {} ± {} % (95 %), p99 {}, {}, {}; first pass {}\n",
                     Time(time.median_ns()), HalfWidthText(time),
                     time.has_p99_ns() ? Time(time.p99_ns()) : "n/a (wants 100 passes)",
                     Counted(time.n(), "pass", "passes"), Counted(time.outliers(), "outlier"),
                     Time(time.first_pass_ns()));
}

// What of the algorithm of convolutions the backend would not have done by itself, with ", ".
std::string ConvolutionsText(const v1::RunSpec& spec) {
  switch (spec.conv_algorithm()) {
    case v1::CONV_ALGORITHM_WINOGRAD:
      return ", winograd convolutions";
    case v1::CONV_ALGORITHM_AUTO:
      return spec.backend() == v1::BACKEND_BEST ? "" : ", direct or winograd convolutions";
    case v1::CONV_ALGORITHM_DIRECT:
      return spec.backend() == v1::BACKEND_BEST ? ", direct convolutions" : "";
    default:
      return "";
  }
}

}  // namespace

std::string HalfWidthText(const v1::TimeStats& time) {
  if (!(time.median_ns() > 0)) return "n/a";
  const double percent = 50 * (time.ci_high_ns() - time.ci_low_ns()) / time.median_ns();
  return percent < 0.05 ? "<0.1" : fmt::format("{:.1f}", percent);
}

std::string NoBoundReason(const v1::Bound& bound) {
  return bound.reason().empty() ? kNoBoundReason : Printable(bound.reason());
}

std::optional<double> BoundBytesPerSecond(const v1::Bound& bound, int64_t byte_count) {
  if (bound.has_flops_per_second() || bound.label() != "memory" || !(bound.bound_ns() > 0)) {
    return std::nullopt;
  }
  return static_cast<double>(byte_count) / bound.bound_ns() * 1e9;
}

std::string BoundText(const v1::Bound& bound) {
  if (bound.limiter().empty() || bound.limiter() == bound.label()) return bound.label();
  return fmt::format("{} ({})", bound.label(), bound.limiter());
}

std::string QuantityText(const v1::Quantity& quantity) {
  if (!quantity.has_value()) {
    return fmt::format("n/a ({})",
                       quantity.reason().empty() ? "not reported" : Printable(quantity.reason()));
  }
  const std::string& unit = quantity.unit();
  std::string text;
  if (unit == "ns") {
    text = Time(quantity.value());
  } else if (unit == "byte") {
    text = Bytes(quantity.value());
  } else if (unit == "count" || unit == "ratio" || unit.empty()) {
    text = Si(quantity.value(), "");
    text.erase(text.find_last_not_of(' ') + 1);
  } else {
    text = Si(quantity.value(), UnitForPeople(unit));
  }
  return quantity.quality() == v1::QUALITY_SUSPECT
             ? fmt::format("{} (suspect: {})", text, Printable(quantity.reason()))
             : text;
}

std::string SettingLine(const v1::Run& run) {
  const v1::RunReport& report = run.report();
  std::string cpus;
  if (report.cpus_size() > 0) {
    cpus = fmt::format(" ({} {})", report.cpus_size() == 1 ? "CPU" : "CPUs",
                       fmt::join(report.cpus(), ","));
  }
  const char* stopped = report.stopped_by() == "budget" ? "time budget used up before the precision"
                                                        : "precision reached";
  return fmt::format("{}{}{}, {}, {}{}, {} cache, {} ({}); run {}\n", Printable(report.backend()),
                     ConvolutionsText(run.spec()), run.spec().fuse() ? ", fused layers" : "",
                     Printable(report.isa()), Counted(report.threads(), "thread"), cpus,
                     Printable(report.cache()), Counted(report.passes().timing(), "pass", "passes"),
                     stopped, Printable(run.id()));
}

std::string BoundSummary(const v1::RunReport& report) {
  double layers_ns = 0;
  std::map<std::string, double> by_label;
  for (const auto& layer : report.layers()) {
    layers_ns += layer.time().median_ns();
    by_label[layer.has_bound() ? layer.bound().label() : ""] += layer.time().median_ns();
  }
  if (!(layers_ns > 0)) return "";
  if (by_label.size() == 1 && by_label.contains("")) {
    return fmt::format("bound: n/a ({})\n", NoBoundReason(report.layers(0).bound()));
  }
  std::vector<std::pair<std::string, double>> shares(by_label.begin(), by_label.end());
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const double pass_ns = std::max(layers_ns, report.overhead().instrumented_pass_ns());
  std::string line;
  for (const auto& [label, ns] : shares) {
    line += fmt::format("{}{:.0f} % {}in {}", line.empty() ? "" : ", ", 100 * ns / pass_ns,
                        line.empty() ? "of the pass " : "",
                        label.empty() ? "layers without a bound"
                                      : fmt::format("{}-bound layers", Printable(label)));
  }
  const double elsewhere_percent = 100 * (1 - layers_ns / pass_ns);
  if (elsewhere_percent >= 0.5) line += fmt::format(", {:.0f} % in no layer", elsewhere_percent);
  return line + '\n';
}

// Means, and so above the median of the clock's time where some passes were slow.
std::string SoftwareLine(const v1::SoftwareEvents& software) {
  return fmt::format(
      "mean of the bare passes: CPU time {}, page faults {}, context "
      "switches {}, migrations {}\n",
      QuantityText(software.task_clock()), QuantityText(software.page_faults()),
      QuantityText(software.context_switches()), QuantityText(software.migrations()));
}

std::string WarningLines(const v1::RunReport& report, const Palette& palette) {
  std::string lines;
  for (const auto& warning : report.warnings()) {
    lines += fmt::format("{} {}\n", palette.Paint("warning:", Tone::kWarn), Printable(warning));
  }
  return lines;
}

std::string RunNotes(const v1::RunReport& report, const Palette& palette) {
  std::string notes;
  if (report.has_time()) notes += TimeLine(report.time());
  notes += BoundSummary(report);
  notes += CountersLine(report);
  notes += MemoryTrafficLine(report.counters());
  if (report.has_software()) notes += SoftwareLine(report.software());
  if (report.has_overhead()) notes += OverheadLine(report.overhead());
  return notes + WarningLines(report, palette) + AdviceLines(report, palette);
}

}  // namespace tinyprof::client
