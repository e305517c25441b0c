#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/run_flow.h"

namespace tinyprof::client {

Action SetupLayer(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<RunOptions>();
  AddRunOptions(app, *options, "SPEC",
                "One layer, such as 'linear(768,3072)'; of more than one, a table is printed");
  AddCsvFlag(app, global);
  return [options](Session& session) { return StartAndPrint(session, *options, 0, LayerText); };
}

}  // namespace tinyprof::client
