// The machine, for people: what it is, what it can do, what it can count.
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cmath>

#include "client/render/names.h"
#include "client/render/people.h"
#include "client/render/table.h"
#include "client/render/units.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The fact, or "n/a (why)".
std::string Fact(const v1::Host& host, const std::string& field, const std::string& value) {
  if (!value.empty()) return value;
  const auto it = host.unknown().find(field);
  return fmt::format("n/a ({})", it == host.unknown().end() ? "not reported" : it->second);
}

std::string CachesText(const v1::Host& host) {
  std::string text;
  for (const auto& cache : host.caches()) {
    text += fmt::format("{}L{} {}", text.empty() ? "" : ", ", cache.level(),
                        Bytes(static_cast<double>(cache.size_bytes())));
    if (cache.shared_by_cpus() > 1) text += fmt::format(" for {} CPUs", cache.shared_by_cpus());
  }
  return text.empty() ? Fact(host, "caches", "") : text;
}

std::string Warnings(const google::protobuf::RepeatedPtrField<std::string>& warnings,
                     const Palette& palette) {
  std::string lines;
  for (const auto& warning : warnings) {
    lines += fmt::format("{} {}\n", palette.Paint("warning:", Tone::kWarn), Printable(warning));
  }
  return lines;
}

Tone ToneOf(v1::CheckState state) {
  if (state == v1::CHECK_STATE_OK) return Tone::kGood;
  if (state == v1::CHECK_STATE_SKIP) return Tone::kFaint;
  return state == v1::CHECK_STATE_WARN ? Tone::kWarn : Tone::kBad;
}

std::string ErrorText(bool present, double error) {
  return present ? fmt::format("{:.3g}", error) : "n/a";
}

// What the peaks' table leaves open.
std::string PeakNotes(const v1::Roofline& roofline) {
  if (roofline.isa().empty()) return "";
  std::string notes =
      "FLOP/cycle is by the clock during that row's own loop, which load and wide vectors change; "
      "it "
      "need not be the core clock above.\n";
  constexpr std::string_view kMixed = "_fma_add";
  std::vector<std::string> mixed;
  for (const auto& peak : roofline.isa()) {
    const std::string name = Printable(peak.name());
    const bool is_new = std::find(mixed.begin(), mixed.end(), name) == mixed.end();
    if (name.ends_with(kMixed) && is_new) mixed.push_back(name);
  }
  if (mixed.empty()) return notes;
  const bool is_one = mixed.size() == 1;
  return notes +
         fmt::format("{} {} FMAs with adds; {} listed where that is faster than FMAs alone.\n",
                     fmt::join(mixed, ", "), is_one ? "mixes" : "mix",
                     is_one ? "it is" : "they are");
}

}  // namespace

std::string HostText(const v1::Host& host, const Layout& layout) {
  const Pairs pairs = {
      {"host", Fact(host, "hostname", host.hostname())},
      {"CPU", Fact(host, "cpu", host.cpu())},
      {"family-model-stepping", Fact(host, "family_model_stepping", host.family_model_stepping())},
      {"microcode", Fact(host, "microcode", host.microcode())},
      {"ISAs", fmt::format("{}", fmt::join(host.isas(), ", "))},
      {"CPUs", fmt::format("{} online; measuring on {}", host.cpu_count(),
                           fmt::join(host.measurement_cpus(), ","))},
      {"caches", CachesText(host)},
      {"memory", Bytes(static_cast<double>(host.memory_bytes()))},
      {"kernel", Fact(host, "kernel", host.kernel())},
      {"governor", Fact(host, "governor", host.governor())},
      {"SMT", Fact(host, "smt", host.smt())},
      {"virtual machine", host.virtualized() ? "yes" : "no"},
      {"PAPI", Fact(host, "papi_version", host.papi_version())},
      {"core PMU", Fact(host, "pmu", host.pmu())},
      {"tinyprofd", Fact(host, "daemon_version", host.daemon_version())},
      {"fingerprint", Fact(host, "fingerprint", host.fingerprint())}};
  return RenderPairs(pairs, layout.palette);
}

namespace {

Table StreamTable(const v1::Roofline& roofline) {
  Table streams({{"read again and again", Align::kRight},
                 {"threads", Align::kRight},
                 {"GB/s", Align::kRight}});
  // Every second: sets grow by the square root of 2.
  for (int i = 0; i < roofline.streams_size(); i += 2) {
    const auto& point = roofline.streams(i);
    streams.AddRow({{Bytes(static_cast<double>(point.set_bytes()))},
                    {fmt::format("{}", point.threads())},
                    {fmt::format("{:.2f}", point.bytes_per_second() / 1e9)}});
  }
  return streams;
}

}  // namespace

std::string RooflineText(const v1::Roofline& roofline, const Layout& layout) {
  Table peaks({{"peak", Align::kLeft},
               {"dtype", Align::kLeft},
               {"threads", Align::kRight},
               {"FLOP/cycle", Align::kRight},
               {"GFLOP/s", Align::kRight}});
  for (const auto& peak : roofline.isa()) {
    peaks.AddRow({{peak.name()},
                  {peak.dtype()},
                  {fmt::format("{}", peak.threads())},
                  {fmt::format("{:.2f}", peak.flops_per_cycle())},
                  {fmt::format("{:.2f}", peak.peak_flops_per_second() / 1e9)}});
  }
  Table bandwidths({{"bandwidth", Align::kLeft},
                    {"op", Align::kLeft},
                    {"threads", Align::kRight},
                    {"GB/s", Align::kRight},
                    {"working set", Align::kRight}});
  for (const auto& bandwidth : roofline.bandwidth()) {
    bandwidths.AddRow({{bandwidth.level()},
                       {bandwidth.op()},
                       {fmt::format("{}", bandwidth.threads())},
                       {fmt::format("{:.2f}", bandwidth.bytes_per_second() / 1e9)},
                       {Bytes(static_cast<double>(bandwidth.working_set_bytes()))}});
  }
  Table ridges({{"ridge", Align::kLeft},
                {"level", Align::kLeft},
                {"threads", Align::kRight},
                {"FLOP/byte", Align::kRight}});
  for (const auto& ridge : roofline.ridge()) {
    ridges.AddRow({{ridge.isa()},
                   {ridge.level()},
                   {fmt::format("{}", ridge.threads())},
                   {fmt::format("{:.2f}", ridge.flop_per_byte())}});
  }
  const std::string measured =
      roofline.has_measure_time()
          ? google::protobuf::util::TimeUtil::ToString(roofline.measure_time())
          : "at an unknown time";
  const auto& cpus = roofline.setup().cpus();
  const std::string where =
      cpus.empty()
          ? ""
          : fmt::format(" on {} {}", cpus.size() == 1 ? "CPU" : "CPUs", fmt::join(cpus, ","));
  return fmt::format("{}, measured {}{}, core clock {} (integer code)\n\n",
                     Printable(roofline.host().cpu()), measured, where,
                     Si(roofline.clock_hz(), "Hz")) +
         peaks.Render(layout.columns, layout.palette) + PeakNotes(roofline) + "\n" +
         bandwidths.Render(layout.columns, layout.palette) + "\n" +
         StreamTable(roofline).Render(layout.columns, layout.palette) + "\n" +
         ridges.Render(layout.columns, layout.palette) +
         Warnings(roofline.warnings(), layout.palette);
}

namespace {

std::string Count(bool present, double value) {
  return present ? Grouped(static_cast<int64_t>(value)) : std::string("n/a");
}

std::string TrustText(const v1::CounterReport& counters, const Layout& layout) {
  if (counters.trust().rows().empty()) return "";
  Table table({{"loop", Align::kLeft},
               {"metric", Align::kLeft},
               {"quality", Align::kLeft},
               {"expected", Align::kRight, 0, 1},
               {"measured", Align::kRight, 0, 2},
               {"reason", Align::kLeft, 24}});
  for (const auto& row : counters.trust().rows()) {
    table.AddRow({{row.loop(), Tone::kStrong},
                  {row.metric()},
                  {row.quality().empty() ? "n/a" : row.quality()},
                  {Count(row.has_expected(), row.expected())},
                  {Count(row.has_measured(), row.measured())},
                  {row.reason()}});
  }
  return "\nTrust: loops of known counts\n" + table.Render(layout.columns, layout.palette);
}

}  // namespace

std::string CountersText(const v1::ListCountersResponse& response, const Layout& layout) {
  const v1::CounterReport& counters = response.counters();
  Table table({{"metric", Align::kLeft},
               {"event", Align::kLeft, 12},
               {"quality", Align::kLeft},
               {"expected", Align::kRight, 0, 2},
               {"measured", Align::kRight, 0, 3},
               {"reason", Align::kLeft, 24}});
  for (const auto& metric : counters.metrics()) {
    table.AddRow(
        {{metric.metric(), Tone::kStrong},
         {metric.event().empty() ? "n/a" : metric.event()},
         {metric.usable() ? metric.quality() : "n/a", metric.usable() ? Tone::kGood : Tone::kFaint},
         {Count(metric.has_expected(), metric.expected())},
         {Count(metric.has_measured(), metric.measured())},
         {metric.reason()}});
  }
  const std::string when =
      response.has_calibrate_time()
          ? ", found " + google::protobuf::util::TimeUtil::ToString(response.calibrate_time())
          : "";
  const std::string head =
      counters.usable()
          ? fmt::format("hardware counters through {}{}\n", Printable(counters.backend()), when)
          : fmt::format("no hardware counters: n/a ({}){}; see `tinyprof-client doctor`\n",
                        Printable(counters.reason()), when);
  return head + "\n" + table.Render(layout.columns, layout.palette) + TrustText(counters, layout);
}

std::string DoctorText(const v1::DiagnoseResponse& response, const Layout& layout) {
  std::string text;
  int width = 0;
  for (const auto& check : response.checks()) {
    width = std::max(width, DisplayWidth(Printable(check.name())));
  }
  for (const auto& check : response.checks()) {
    const std::string state = Pad(CheckStateName(check.state()), 4, Align::kLeft);
    text +=
        fmt::format("{}  {}  {}\n", layout.palette.Paint(state, ToneOf(check.state())),
                    Pad(Printable(check.name()), width, Align::kLeft), Printable(check.found()));
    if (!check.why().empty()) text += fmt::format("      why: {}\n", Printable(check.why()));
    if (!check.fix().empty()) {
      text += fmt::format("      fix: {}\n",
                          layout.palette.Paint(Printable(check.fix()), Tone::kStrong));
    }
  }
  return text;
}

// "y: 3 elements outside; the worst is y[0,2]: got 5, want 4, difference 1 where 0.004 is allowed".
std::string WorstLine(const v1::VerifiedOutput& output) {
  if (!output.has_worst()) return "";
  const v1::WorstElement& worst = output.worst();
  return fmt::format(
      "{0}: {1} outside; the worst is {0}[{2}]: got {3:.9g}, want {4:.9g}, difference {5:.3g} "
      "where "
      "{6:.3g} is allowed\n",
      Printable(output.name()), Counted(output.outside_count(), "element"),
      fmt::join(worst.index(), ","), worst.got(), worst.want(),
      std::fabs(worst.got() - worst.want()), worst.allowed());
}

std::string VerifyText(const v1::VerifyModelResponse& response, const Layout& layout) {
  Table table({{"output", Align::kLeft, 10},
               {"shape", Align::kLeft},
               {"max abs error", Align::kRight},
               {"max rel error", Align::kRight},
               {"", Align::kLeft},
               {"note", Align::kLeft, 16}});
  for (const auto& output : response.outputs()) {
    table.AddRow(
        {{output.name()},
         {output.shape().empty() ? "scalar" : fmt::format("{}", fmt::join(output.shape(), "x"))},
         {ErrorText(output.has_max_abs_error(), output.max_abs_error())},
         {ErrorText(output.has_max_rel_error(), output.max_rel_error())},
         {output.ok() ? "ok" : "differs", output.ok() ? Tone::kGood : Tone::kBad},
         {output.note()}});
  }
  std::string text = table.Render(layout.columns, layout.palette);
  for (const auto& output : response.outputs()) text += WorstLine(output);
  return text +
         fmt::format("{} the tolerance: |got - want| up to {:g} + {:g} |want|\n",
                     response.ok() ? "all outputs are within" : "outputs differ by more than",
                     response.atol(), response.rtol());
}

}  // namespace tinyprof::client
