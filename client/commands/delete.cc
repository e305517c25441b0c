#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

Result<ExitCode> Delete(Session& session, const std::string& id) {
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  v1::DeleteRunRequest request;
  request.set_id(id);
  TINYPROF_RETURN_IF_ERROR(
      connection->Call(connection->profiler(), &Connection::Profiler::DeleteRun, request));
  if (session.options().json) {
    Json document = NewDocument(session.command());
    document["run"] = {{"id", id}, {"deleted", true}};
    TINYPROF_RETURN_IF_ERROR(session.Print(document));
  } else {
    TINYPROF_RETURN_IF_ERROR(session.Print(fmt::format("run {}: deleted\n", Printable(id))));
  }
  return ExitCode::kOk;
}

}  // namespace

Action SetupDelete(CLI::App& app, GlobalOptions&) {
  const auto id = std::make_shared<std::string>();
  app.add_option("RUN", *id, "The run's id")->required();
  return [id](Session& session) { return Delete(session, *id); };
}

}  // namespace tinyprof::client
