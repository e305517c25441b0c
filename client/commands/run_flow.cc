#include "client/commands/run_flow.h"

#include <fmt/format.h>

#include "client/render/csv.h"
#include "client/render/names.h"

namespace tinyprof::client {
namespace {

ExitCode ExitCodeOf(const v1::Run& run) {
  if (run.state() == v1::RUN_STATE_FAILED) {
    // The counters that were asked for may be refused when the run is asked for, or within it.
    if (run.error().reason() == "COUNTERS_UNAVAILABLE") return ExitCode::kPrecondition;
    return run.error().reason() == "TIMEOUT" ? ExitCode::kTimeout : ExitCode::kRunFailed;
  }
  return run.state() == v1::RUN_STATE_CANCELLED ? ExitCode::kRunFailed : ExitCode::kOk;
}

// Why there is no result, for stderr.
std::string NoResultSentence(const v1::Run& run) {
  if (run.state() == v1::RUN_STATE_CANCELLED)
    return fmt::format("the run {} was cancelled", run.id());
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

Result<ExitCode> PrintOutcome(Session& session, const WatchOutcome& outcome, const Layout& layout,
                              const RunRenderer& render) {
  const bool stopped = outcome.interrupted || outcome.timed_out;
  if (!stopped || outcome.run.has_report() || session.options().json) {
    const Result<ExitCode> code = PrintRun(session, outcome.run, layout, render);
    if (!code) return tl::unexpected(NotPrinted(code.error(), outcome.run));
    if (!stopped) return *code;
  }
  return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kTimeout;
}

// The options that lead from the printer to the watcher.
WatchOptions MakeWatchOptions(ProgressPrinter& progress,
                              std::optional<std::chrono::nanoseconds> timeout, bool cancel_run) {
  return {timeout, cancel_run, [&progress](const v1::Run& run) { progress.Show(run); },
          [&progress](const std::string& sentence) { progress.Notice(sentence); }};
}

}  // namespace

Result<ExitCode> PrintRun(Session& session, const v1::Run& run, const Layout& layout,
                          const RunRenderer& render) {
  const ExitCode code = ExitCodeOf(run);
  const bool ended_without_report = HasEnded(run.state()) && !run.has_report();
  if (ended_without_report)
    session.io().err << "tinyprof-client: " << Printable(NoResultSentence(run)) << std::endl;
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
  TINYPROF_ASSIGN_OR_RETURN(const auto timeout, session.Timeout());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  Result<WatchOutcome> outcome;
  {
    Io& io = session.io();
    ProgressPrinter progress(io.err, io.err_is_terminal, io.err_columns, session.options().quiet);
    outcome = RunToEnd(*connection, spec, io.interrupts, MakeWatchOptions(progress, timeout, true));
  }
  if (!outcome) return tl::unexpected(outcome.error());
  return PrintOutcome(session, *outcome, session.MakeLayout(top), render);
}

Result<ExitCode> WatchAndPrint(Session& session, const std::string& id, const RunRenderer& render) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(const auto timeout, session.Timeout());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  Result<WatchOutcome> outcome;
  {
    Io& io = session.io();
    ProgressPrinter progress(io.err, io.err_is_terminal, io.err_columns, session.options().quiet);
    outcome =
        WatchToEnd(*connection, id, io.interrupts, MakeWatchOptions(progress, timeout, false));
  }
  if (!outcome) return tl::unexpected(outcome.error());
  return PrintOutcome(session, *outcome, session.MakeLayout(), render);
}

}  // namespace tinyprof::client
