#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/run_flow.h"

namespace tinyprof::client {
namespace {

struct Options {
  std::string id;
  int top = 0;
};

Result<ExitCode> Show(Session& session, const Options& options) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  v1::GetRunRequest request;
  request.set_id(options.id);
  TINYPROF_ASSIGN_OR_RETURN(
      const v1::GetRunResponse response,
      connection->Call(connection->profiler(), &Connection::Profiler::GetRun, request));
  return PrintRun(session, response.run(), session.MakeLayout(options.top), RunText);
}

}  // namespace

Action SetupShow(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<Options>();
  app.add_option("RUN", options->id, "The run's id")->required();
  AddCsvFlag(app, global);
  AddTopOption(app, options->top);
  return [options](Session& session) { return Show(session, *options); };
}

}  // namespace tinyprof::client
