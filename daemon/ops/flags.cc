#include "daemon/ops/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace tinyprof {
namespace {

constexpr std::string_view kFooter =
    "A flag goes before the environment (TINYPROF_<KEY>), that before the file, that before the\n"
    "default. --print-config shows every key.\n\n"
    "Exit codes: 0 ended as asked, 1 could not start or serve, 2 usage, 78 bad configuration.";

std::string FlagName(std::string_view key) {
  std::string name = fmt::format("--{}", key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void AddKeyFlags(CLI::App& app, ConfigFlags& config) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (!key.has_flag) continue;
    CLI::Option* option = app.add_option(FlagName(key.name), config.texts[std::string(key.name)],
                                         std::string(key.help));
    // One value a flag, so that `--listen a b` is not two addresses by accident.
    option->expected(1)->type_size(1)->type_name("TEXT");
    if (key.kind == ConfigKey::Kind::kList) {
      option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
    }
  }
}

tl::unexpected<Error> Usage(const std::string& message) {
  return Fail(ErrorCode::kInvalidArgument, "USAGE", message + "; see tinyprofd --help");
}

}  // namespace

Result<Flags> ParseFlags(int argc, const char* const* argv) {
  Flags flags;
  CLI::App app("Measures neural networks on this machine and serves the results.", "tinyprofd");
  app.allow_extras();
  app.footer(std::string(kFooter));
  app.add_option("--config", flags.config.file, "Configuration file (TOML)")->type_name("FILE");
  AddKeyFlags(app, flags.config);
  app.add_flag("--check-config", flags.check_config, "Checks the configuration and exits: 0 or 78");
  app.add_flag("--print-config", flags.print_config, "Prints the merged configuration and exits");
  app.add_flag("--version", flags.version, "Prints the version and exits");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    flags.help = app.help();
  } catch (const CLI::Error& error) {
    return Usage(error.what());
  }
  if (const auto extras = app.remaining(); !extras.empty()) {
    return Usage(fmt::format("unknown argument '{}'", extras.front()));
  }
  std::erase_if(flags.config.texts, [](const auto& entry) { return entry.second.empty(); });
  return flags;
}

}  // namespace tinyprof
