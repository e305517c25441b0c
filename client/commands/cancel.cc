#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/lib/run_watch.h"
#include "client/render/names.h"

namespace tinyprof::client {
namespace {

tl::unexpected<Error> AlreadyEnded(const v1::Run& run) {
  return Fail(ErrorCode::kFailedPrecondition, "RUN_ENDED",
              fmt::format("run {0} has already ended ({1}); see `tinyprof-client show {0}`",
                          run.id(), StateName(run.state())),
              {{"id", run.id()}, {"state", StateName(run.state())}});
}

std::string CancelledText(const v1::Run& run, bool already_ended) {
  if (already_ended) {
    return fmt::format("run {} has already ended ({})\n", Printable(run.id()),
                       StateName(run.state()));
  }
  return fmt::format("run {}: {}\n", Printable(run.id()),
                     HasEnded(run.state()) ? StateName(run.state()) : "cancelling");
}

Result<ExitCode> Cancel(Session& session, const std::string& id) {
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  v1::CancelRunRequest request;
  request.set_id(id);
  TINYPROF_ASSIGN_OR_RETURN(
      v1::CancelRunResponse response,
      connection->Call(connection->profiler(), &Connection::Profiler::CancelRun, request));
  v1::Run& run = *response.mutable_run();
  const bool as_asked = run.state() == v1::RUN_STATE_CANCELLED;
  if (response.already_ended() && !as_asked) return AlreadyEnded(run);
  // The answer is about the state; the result, if there is one, belongs to `show`.
  run.clear_report();
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(RunDocument(session.command(), run))
                               : session.Print(CancelledText(run, response.already_ended())));
  return ExitCode::kOk;
}

}  // namespace

Action SetupCancel(CLI::App& app, GlobalOptions&) {
  const auto id = std::make_shared<std::string>();
  app.add_option("RUN", *id, "The run's id")->required();
  return [id](Session& session) { return Cancel(session, *id); };
}

}  // namespace tinyprof::client
