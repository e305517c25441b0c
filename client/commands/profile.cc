#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/run_flow.h"

namespace tinyprof::client {

Action SetupProfile(CLI::App& app, GlobalOptions& global) {
  struct Options {
    RunOptions run;
    int top = 0;
  };
  const auto options = std::make_shared<Options>();
  AddRunOptions(app, options->run);
  AddCsvFlag(app, global);
  AddTopOption(app, options->top);
  return [options](Session& session) {
    return StartAndPrint(session, options->run, options->top, RunText);
  };
}

}  // namespace tinyprof::client
