#include "client/render/progress.h"

#include <fmt/format.h>

#include "client/render/text.h"
#include "kernels/base/words.h"

namespace tinyprof::client {
namespace {

std::string PassesText(const v1::Progress& progress) {
  return progress.total() > 0
             ? fmt::format("{} of {}", progress.done(), Counted(progress.total(), "pass", "passes"))
             : Counted(progress.done(), "pass", "passes");
}

// While timing the total is only the most there can be: the precision decides.
std::string TimingText(const v1::Run& run) {
  constexpr double kDefaultPrecision = 0.01;
  const v1::Progress& progress = run.progress();
  const double wanted = run.spec().precision() > 0 ? run.spec().precision() : kDefaultPrecision;
  std::string text = "timing: " + Counted(progress.done(), "pass", "passes");
  if (progress.precision_reached() > 0) {
    text += fmt::format(", ±{:.1f} % of ±{:.1f} % wanted",
                        100 * wanted / progress.precision_reached(), 100 * wanted);
  }
  return text;
}

// Two states with the same key belong to one line where lines cannot be rewritten.
std::string PhaseKey(const v1::Run& run) {
  if (run.state() == v1::RUN_STATE_QUEUED) return ProgressText(run);
  return run.state() == v1::RUN_STATE_RUNNING ? run.progress().phase() : "";
}

}  // namespace

std::string WaitingText(int32_t position, const std::string& waits_for) {
  std::string others;
  if (position > 1) {
    others = Counted(position - 1, "job that waits before it", "jobs that wait before it");
  }
  if (waits_for.empty()) return others.empty() ? "it is next" : "behind " + others;
  return fmt::format("behind {}, which is being measured{}{}", Printable(waits_for),
                     others.empty() ? "" : ", and ", others);
}

std::string ProgressText(const v1::Run& run) {
  if (run.state() == v1::RUN_STATE_QUEUED) {
    return "queued: " + WaitingText(run.queue_position(), run.waits_for());
  }
  if (run.state() != v1::RUN_STATE_RUNNING) return "";
  const std::string& phase = run.progress().phase();
  if (phase == "roofline")
    return "measuring the roofline (once for this machine and its measurement CPUs)";
  if (phase == "timing") return TimingText(run);
  if (phase == "warm-up" || phase == "counting") {
    return fmt::format("{}: {}", phase, PassesText(run.progress()));
  }
  return Printable(phase);
}

std::string ProgressText(const v1::QuantizationProgress& progress) {
  if (progress.queue_position() > 0) {
    return "queued: " + WaitingText(progress.queue_position(), progress.waits_for());
  }
  if (progress.total() == 0) return Printable(progress.phase());
  return fmt::format("{}: {} of {}", Printable(progress.phase()), progress.done(),
                     Counted(progress.total(), "input"));
}

ProgressPrinter::ProgressPrinter(std::ostream& err, bool is_terminal, int columns, bool quiet)
    : err_(err), is_terminal_(is_terminal), columns_(columns), quiet_(quiet) {}

ProgressPrinter::~ProgressPrinter() { ClearLine(); }

void ProgressPrinter::ClearLine() {
  if (!line_open_) return;
  err_ << "\r\x1b[K" << std::flush;
  line_open_ = false;
}

void ProgressPrinter::Show(const v1::Run& run) {
  const std::string phase = PhaseKey(run);
  // The first state of a phase says nothing of how it goes on: its name is enough.
  const bool is_named = run.state() == v1::RUN_STATE_RUNNING && phase != "roofline";
  const std::string text = ProgressText(run);
  ShowText(text, phase, is_named ? Printable(phase) : text);
}

void ProgressPrinter::Show(const v1::QuantizationProgress& progress) {
  const std::string text = ProgressText(progress);
  const bool is_waiting = progress.queue_position() > 0;
  ShowText(text, is_waiting ? text : progress.phase(),
           is_waiting ? text : Printable(progress.phase()));
}

void ProgressPrinter::ShowText(const std::string& text, const std::string& phase,
                               const std::string& first) {
  if (quiet_ || text.empty()) return;
  if (is_terminal_) {
    err_ << "\r\x1b[K" << (columns_ > 3 ? ShortenMiddle(text, columns_ - 1) : text) << std::flush;
    line_open_ = true;
    return;
  }
  if (phase == last_phase_) return;
  last_phase_ = phase;
  err_ << first << std::endl;
}

void ProgressPrinter::Notice(const std::string& sentence) {
  ClearLine();
  err_ << "tinyprof-client: " << Printable(sentence) << std::endl;
}

}  // namespace tinyprof::client
