#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/render/names.h"

namespace tinyprof::client {
namespace {

Result<ExitCode> Cancel(Session& session, const std::string& id) {
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  v1::CancelRunRequest request;
  request.set_id(id);
  TINYPROF_ASSIGN_OR_RETURN(
      v1::CancelRunResponse response,
      connection->Call(connection->profiler(), &Connection::Profiler::CancelRun, request));
  v1::Run& run = *response.mutable_run();
  // The answer is about the state; the result, if there is one, belongs to `show`.
  run.clear_report();
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(RunDocument(session.command(), run))
                               : session.Print(fmt::format("run {}: {}\n", Printable(run.id()),
                                                           StateName(run.state()))));
  return ExitCode::kOk;
}

}  // namespace

Action SetupCancel(CLI::App& app, GlobalOptions&) {
  const auto id = std::make_shared<std::string>();
  app.add_option("RUN", *id, "The run's id")->required();
  return [id](Session& session) { return Cancel(session, *id); };
}

}  // namespace tinyprof::client
