#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/run_flow.h"

namespace tinyprof::client {

Action SetupWatch(CLI::App& app, GlobalOptions& global) {
  const auto id = std::make_shared<std::string>();
  app.add_option("RUN", *id, "The run's id")->required();
  AddCsvFlag(app, global);
  return [id](Session& session) { return WatchAndPrint(session, *id, RunText); };
}

}  // namespace tinyprof::client
