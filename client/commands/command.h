// A command of tinyprof-client: its words for the help, and how its options become an action.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "client/commands/session.h"

namespace CLI {
class App;
}

namespace tinyprof::client {

// Runs the command once its options are parsed; what it prints goes through the session.
using Action = std::function<Result<ExitCode>(Session&)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  // Lines of the help's examples.
  std::string_view examples;
  // Adds the command's own options to `app` and returns its action.
  Action (*setup)(CLI::App& app, GlobalOptions& global);
};

// All commands, in the order of the help.
std::span<const Command> Commands();

Action SetupAnalyze(CLI::App& app, GlobalOptions& global);
Action SetupProfile(CLI::App& app, GlobalOptions& global);
Action SetupLayer(CLI::App& app, GlobalOptions& global);
Action SetupLatency(CLI::App& app, GlobalOptions& global);
Action SetupMemory(CLI::App& app, GlobalOptions& global);
Action SetupRoofline(CLI::App& app, GlobalOptions& global);
Action SetupCounters(CLI::App& app, GlobalOptions& global);
Action SetupDoctor(CLI::App& app, GlobalOptions& global);
Action SetupHost(CLI::App& app, GlobalOptions& global);
Action SetupModels(CLI::App& app, GlobalOptions& global);
Action SetupQuantize(CLI::App& app, GlobalOptions& global);
Action SetupVerify(CLI::App& app, GlobalOptions& global);
Action SetupList(CLI::App& app, GlobalOptions& global);
Action SetupShow(CLI::App& app, GlobalOptions& global);
Action SetupCompare(CLI::App& app, GlobalOptions& global);
Action SetupWatch(CLI::App& app, GlobalOptions& global);
Action SetupCancel(CLI::App& app, GlobalOptions& global);
Action SetupDelete(CLI::App& app, GlobalOptions& global);
Action SetupHealth(CLI::App& app, GlobalOptions& global);
Action SetupVersion(CLI::App& app, GlobalOptions& global);
Action SetupCompletion(CLI::App& app, GlobalOptions& global);

}  // namespace tinyprof::client
