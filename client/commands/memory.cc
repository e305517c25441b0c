#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/run_flow.h"

namespace tinyprof::client {

Action SetupMemory(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<RunOptions>();
  // Memory does not vary from pass to pass: a short run tells all there is.
  options->default_time_budget = "1s";
  options->counters = "none";
  AddRunOptions(app, *options);
  AddCsvFlag(app, global);
  return [options](Session& session) { return StartAndPrint(session, *options, 0, MemoryText); };
}

}  // namespace tinyprof::client
