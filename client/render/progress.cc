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
  if (run.state() == v1::RUN_STATE_QUEUED) return fmt::format("queued {}", run.queue_position());
  return run.state() == v1::RUN_STATE_RUNNING ? run.progress().phase() : "";
}

}  // namespace

std::string ProgressText(const v1::Run& run) {
  if (run.state() == v1::RUN_STATE_QUEUED) {
    return fmt::format("queued: position {} ({} ahead)", run.queue_position() + 1,
                       run.queue_position());
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

ProgressPrinter::ProgressPrinter(std::ostream& err, bool is_terminal, int columns, bool quiet)
    : err_(err), is_terminal_(is_terminal), columns_(columns), quiet_(quiet) {}

ProgressPrinter::~ProgressPrinter() { ClearLine(); }

void ProgressPrinter::ClearLine() {
  if (!line_open_) return;
  err_ << "\r\x1b[K" << std::flush;
  line_open_ = false;
}

void ProgressPrinter::Show(const v1::Run& run) {
  const std::string text = ProgressText(run);
  if (quiet_ || text.empty()) return;
  if (is_terminal_) {
    err_ << "\r\x1b[K" << (columns_ > 3 ? ShortenMiddle(text, columns_ - 1) : text) << std::flush;
    line_open_ = true;
    return;
  }
  const std::string phase = PhaseKey(run);
  if (phase == last_phase_) return;
  last_phase_ = phase;
  // The first state of a phase says nothing of how it goes on: its name is enough.
  err_ << (run.state() == v1::RUN_STATE_RUNNING && phase != "roofline" ? Printable(phase) : text)
       << std::endl;
}

void ProgressPrinter::Notice(const std::string& sentence) {
  ClearLine();
  err_ << "tinyprof-client: " << Printable(sentence) << std::endl;
}

}  // namespace tinyprof::client
