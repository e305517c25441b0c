#include "client/commands/run_flow.h"

#include <fmt/format.h>

#include <utility>

#include "client/render/csv.h"
#include "client/render/names.h"

namespace tinyprof::client {
namespace {

// The reason of a run that is cancelled because somebody asked for it.
constexpr const char* kOnRequest = "CANCELLED";
// The reason of a run whose time was over, by the daemon or by this client.
constexpr const char* kTimeout = "TIMEOUT";

ExitCode ExitCodeOf(const v1::Run& run) {
  if (run.state() == v1::RUN_STATE_FAILED) {
    // The counters that were asked for may be refused when the run is asked for, or within it.
    if (run.error().reason() == "COUNTERS_UNAVAILABLE") return ExitCode::kPrecondition;
    return run.error().reason() == kTimeout ? ExitCode::kTimeout : ExitCode::kRunFailed;
  }
  return run.state() == v1::RUN_STATE_CANCELLED ? ExitCode::kRunFailed : ExitCode::kOk;
}

std::string CancelledSentence(const v1::Run& run) {
  const v1::RunError& error = run.error();
  if (error.reason() == kTimeout)
    return fmt::format("the run {} was {}", run.id(), error.message());
  std::string text = fmt::format("the run {} was cancelled", run.id());
  if (!error.message().empty() && error.reason() != kOnRequest) text += ": " + error.message();
  return text;
}

// Why there is no result, for stderr.
std::string NoResultSentence(const v1::Run& run) {
  if (run.state() == v1::RUN_STATE_CANCELLED) return CancelledSentence(run);
  std::string text = fmt::format("the run {} failed: {}", run.id(), run.error().message());
  if (!run.error().layer().empty()) text += fmt::format(" (in layer {})", run.error().layer());
  return text;
}

// The minutes of measuring are not lost with the output.
Error NotPrinted(Error error, const v1::Run& run) {
  if (!run.has_report()) return error;
  error.message += fmt::format("; the result is kept: `tinyprof-client show {}`", run.id());
  error.metadata["run_id"] = run.id();
  return error;
}

// The daemon knows only that somebody asked it to cancel.
void SayThatItTimedOut(const std::string& timeout, v1::Run& run) {
  if (run.error().reason() != kOnRequest) return;
  run.mutable_error()->set_reason(kTimeout);
  run.mutable_error()->set_message(
      fmt::format("cancelled because the timeout of {} was over", timeout));
}

// Says on stderr why a run that has ended has no result.
void ExplainNoResult(Session& session, const v1::Run& run) {
  if (!HasEnded(run.state()) || run.has_report()) return;
  session.io().err << "tinyprof-client: " << Printable(NoResultSentence(run)) << std::endl;
}

Result<ExitCode> PrintOutcome(Session& session, WatchOutcome outcome, const Layout& layout,
                              const RunRenderer& render) {
  const bool stopped = outcome.interrupted || outcome.timed_out;
  if (outcome.timed_out) SayThatItTimedOut(session.options().timeout, outcome.run);
  if (!stopped || outcome.run.has_report() || session.options().json) {
    const Result<ExitCode> code = PrintRun(session, outcome.run, layout, render);
    if (!code) return tl::unexpected(NotPrinted(code.error(), outcome.run));
    if (!stopped) return *code;
  } else {
    ExplainNoResult(session, outcome.run);
  }
  return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kTimeout;
}

// The options that lead from the printer to the watcher.
Result<WatchOptions> MakeWatchOptions(const Session& session, ProgressPrinter& progress,
                                      bool cancel_run) {
  TINYPROF_ASSIGN_OR_RETURN(const auto timeout, session.Timeout());
  return WatchOptions{timeout, session.options().timeout, cancel_run,
                      [&progress](const v1::Run& run) { progress.Show(run); },
                      [&progress](const std::string& sentence) { progress.Notice(sentence); }};
}

}  // namespace

Result<ExitCode> PrintRun(Session& session, const v1::Run& run, const Layout& layout,
                          const RunRenderer& render) {
  const ExitCode code = ExitCodeOf(run);
  ExplainNoResult(session, run);
  if (session.options().json) {
    TINYPROF_RETURN_IF_ERROR(session.Print(RunDocument(session.command(), run)));
  } else if (session.options().csv && run.has_report()) {
    TINYPROF_RETURN_IF_ERROR(session.Print(RunCsv(run)));
  } else if (!session.options().csv) {
    TINYPROF_RETURN_IF_ERROR(session.Print(render(run, layout)));
  }
  return code;
}

Result<ExitCode> StartAndPrint(Session& session, const RunOptions& options, int top,
                               const RunRenderer& render) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(const v1::RunSpec spec, ToRunSpec(session, options));
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  Result<WatchOutcome> outcome;
  {
    Io& io = session.io();
    ProgressPrinter progress(io.err, io.err_is_terminal, io.err_columns, session.options().quiet);
    TINYPROF_ASSIGN_OR_RETURN(const WatchOptions watch, MakeWatchOptions(session, progress, true));
    outcome = RunToEnd(*connection, spec, io.interrupts, watch);
  }
  if (!outcome) return tl::unexpected(outcome.error());
  return PrintOutcome(session, *std::move(outcome), session.MakeLayout(top), render);
}

Result<ExitCode> WatchAndPrint(Session& session, const std::string& id, const RunRenderer& render) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  Result<WatchOutcome> outcome;
  {
    Io& io = session.io();
    ProgressPrinter progress(io.err, io.err_is_terminal, io.err_columns, session.options().quiet);
    TINYPROF_ASSIGN_OR_RETURN(const WatchOptions watch, MakeWatchOptions(session, progress, false));
    outcome = WatchToEnd(*connection, id, io.interrupts, watch);
  }
  if (!outcome) return tl::unexpected(outcome.error());
  return PrintOutcome(session, *std::move(outcome), session.MakeLayout(), render);
}

}  // namespace tinyprof::client
