#include "client/commands/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>

#include "client/commands/command.h"
#include "client/commands/suggest.h"
#include "client/render/text.h"

namespace tinyprof::client {
namespace {

constexpr const char* kProgram = "tinyprof-client";

// Examples, kept as the footer, come before the options.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    if (app->get_footer().empty()) return app->get_description() + "\n\n";
    return fmt::format("{}\n\nExamples:\n{}\n\n", app->get_description(),
                       CLI::detail::find_and_replace("  " + app->get_footer(), "\n", "\n  "));
  }
  std::string make_footer(const CLI::App* app) const override {
    return app->get_parent() == nullptr
               ? "Exit codes: 0 ok, 1 the run failed or its result could not be written, 2 usage,\n"
                 "3 daemon not reached, 4 no permission, 5 precondition (nothing was run: queue\n"
                 "full, model too large, ...), 6 `compare` found a regression, 124 timeout,\n"
                 "130 interrupted.\n"
               : fmt::format("Options of every command: {} --help\n", kProgram);
  }
};

void AddGlobalOptions(CLI::App& app, GlobalOptions& options) {
  app.add_option("--address", options.address,
                 "The daemon: unix:PATH or HOST:PORT, such as localhost:7070")
      ->type_name("ADDRESS");
  app.add_option("--timeout", options.timeout, "Longest wait; a run is cancelled then, such as 60s")
      ->type_name("TIME");
  app.add_flag("--json", options.json, "Print one JSON object");
  app.add_option("-o,--output", options.output, "Write the result to a file; - is standard output")
      ->type_name("FILE");
  app.add_flag("-q,--quiet", options.quiet, "No progress and no notes on standard error");
  app.add_option("--color", options.color, "Colour: auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  app.set_version_flag("--version", fmt::format("{} {}", kProgram, TINYPROF_VERSION));
}

struct Program {
  CLI::App app{"Measure neural networks on a CPU and say what bounds them", kProgram};
  GlobalOptions options;
  std::vector<Action> actions;  // by position in Commands()

  Program() {
    app.formatter(std::make_shared<HelpFormatter>());
    app.footer("tinyprof-client profile resnet18\ntinyprof-client analyze gpt2-small --json");
    app.require_subcommand(0, 1);
    app.allow_extras();
    AddGlobalOptions(app, options);
    for (const Command& command : Commands()) {
      CLI::App& sub = *app.add_subcommand(std::string(command.name), std::string(command.summary));
      sub.footer(std::string(command.examples));
      sub.fallthrough();
      actions.push_back(command.setup(sub, options));
    }
  }
};

std::string PathOf(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : PathOf(*app.get_parent()) + " " + app.get_name();
}

const CLI::App& Deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : Deepest(*parsed.back());
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// What to say of an argument that nothing took.
std::string UnknownSentence(const CLI::App& root, const std::string& argument) {
  const CLI::App& app = Deepest(root);
  std::string kind = "argument";
  std::vector<std::string> candidates;
  const std::string word = argument.substr(0, argument.find('='));
  if (argument.starts_with('-')) {
    kind = "option";
    candidates = OptionNames(app);
  } else if (&app == &root) {
    kind = "command";
    for (const Command& command : Commands()) candidates.emplace_back(command.name);
  }
  const std::string nearest = Nearest(word, candidates);
  const std::string where = &app == &root ? kProgram : app.get_name();
  return nearest.empty()
             ? fmt::format("'{}' is no {} of {}", word, kind, where)
             : fmt::format("'{}' is no {} of {}; did you mean {}?", word, kind, where, nearest);
}

// The first argument that nothing took, options first: a mistyped option upsets what follows it.
std::string FirstUnknown(const CLI::App& app) {
  const std::vector<std::string> remaining = app.remaining(true);
  const auto option = std::find_if(remaining.begin(), remaining.end(), [](const std::string& word) {
    return word.size() > 1 && word.starts_with('-') && word != "--";
  });
  if (option != remaining.end()) return *option;
  return remaining.empty() ? "" : remaining.front();
}

// A value of a page's length is not worth repeating whole.
constexpr int kLongestComplaint = 2000;

void Complain(Io& io, const std::string& text) {
  io.err << fmt::format("{}: {}", kProgram, ShortenMiddle(text, kLongestComplaint)) << std::endl;
}

// What no option and no message to the daemon can carry, or "".
std::string UnfitArgument(const std::vector<std::string>& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].empty()) return fmt::format("argument {} is empty", i + 1);
    if (ValidUtf8(args[i]) != args[i]) {
      return fmt::format("argument {} is not valid UTF-8: {}", i + 1, args[i]);
    }
  }
  return "";
}

void PrintError(Session& session, const Error& error) {
  if (const Status printed = session.Print(ErrorDocument(session.command(), error)); !printed) {
    Complain(session.io(), Printable(printed.error().message));
  }
}

ExitCode Report(Session& session, const Error& error) {
  Complain(session.io(), PrintableLines(error.message));
  if (session.options().json && !session.IsOutputFailure(error)) PrintError(session, error);
  return ExitCodeFor(error);
}

ExitCode PrintPlain(Io& io, const std::string& text) {
  const GlobalOptions plain;
  Session session(plain, io, "");
  const Status printed = session.Print(text);
  return printed ? ExitCode::kOk : Report(session, printed.error());
}

// Where the error of a command line goes, which may not have been parsed to its end.
GlobalOptions OptionsSoFar(const CLI::App& app, const std::vector<std::string>& args) {
  GlobalOptions options;
  const auto end = std::find(args.begin(), args.end(), "--");
  options.json = std::find(args.begin(), end, "--json") != end;
  const auto& outputs = app.get_option("--output")->results();
  if (!outputs.empty()) options.output = outputs.front();
  return options;
}

ExitCode UsageError(const CLI::App& app, const std::vector<std::string>& args, Io& io,
                    const std::string& sentence) {
  const std::string path = PathOf(Deepest(app));
  Complain(io, fmt::format("{}; see `{} --help`", Printable(sentence), path));
  const GlobalOptions options = OptionsSoFar(app, args);
  if (options.json) {
    const std::string command = path.substr(std::min(path.size(), std::strlen(kProgram) + 1));
    Session session(options, io, command);
    PrintError(session, {ErrorCode::kInvalidArgument, "BAD_COMMAND_LINE", sentence, {}});
  }
  return ExitCode::kUsage;
}

ExitCode RunParsed(const Program& program, Io& io) {
  const auto parsed = program.app.get_subcommands();
  const auto commands = Commands();
  const auto command = std::find_if(
      commands.begin(), commands.end(),
      [&](const Command& candidate) { return candidate.name == parsed.front()->get_name(); });
  Session session(program.options, io, std::string(command->name));
  const Action& action = program.actions[static_cast<size_t>(command - commands.begin())];
  const Result<ExitCode> code = action(session);
  return code ? *code : Report(session, code.error());
}

}  // namespace

ExitCode RunClient(const std::vector<std::string>& args, Io& io) {
  Program program;
  CLI::App& app = program.app;
  const auto usage_error = [&](const std::string& sentence) {
    return UsageError(app, args, io, sentence);
  };
  if (const std::string unfit = UnfitArgument(args); !unfit.empty()) return usage_error(unfit);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    return PrintPlain(io, app.help());
  } catch (const CLI::CallForVersion& version) {
    return PrintPlain(io, fmt::format("{}\n", version.what()));
  } catch (const CLI::Error& error) {
    const std::string unknown = FirstUnknown(app);
    return usage_error(unknown.empty() ? error.what() : UnknownSentence(app, unknown));
  }
  if (const std::string unknown = FirstUnknown(app); !unknown.empty()) {
    return usage_error(UnknownSentence(app, unknown));
  }
  if (app.get_subcommands().empty()) {
    if (program.options.json) return usage_error("a command is required");
    io.err << app.help() << std::flush;
    return ExitCode::kUsage;
  }
  if (program.options.json && program.options.csv) {
    return usage_error("--json and --csv exclude each other");
  }
  return RunParsed(program, io);
}

}  // namespace tinyprof::client
