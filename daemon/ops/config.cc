#include "daemon/ops/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "daemon/ops/config_file.h"
#include "kernels/base/split.h"
#include "kernels/base/words.h"

namespace tinyprof {
namespace {

std::string DefaultFile(const Environment& environment) {
  if (environment.uid == 0) return "/etc/tinyprof/tinyprofd.toml";
  if (const auto config_home = environment.variable("XDG_CONFIG_HOME")) {
    return *config_home + "/tinyprof/tinyprofd.toml";
  }
  const auto home = environment.variable("HOME");
  return home ? *home + "/.config/tinyprof/tinyprofd.toml" : std::string();
}

ConfigFile ReadFileOf(const ConfigFlags& flags, const Environment& environment) {
  if (!flags.file.empty()) return ReadConfigFile(flags.file);
  const std::string path = DefaultFile(environment);
  const bool exists = !path.empty() && access(path.c_str(), F_OK) == 0;
  return exists ? ReadConfigFile(path) : ConfigFile{};
}

std::string VariableOf(const ConfigKey& key) {
  std::string name = fmt::format("TINYPROF_{}", key.name);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string FlagOf(const ConfigKey& key) {
  std::string name = fmt::format("--{}", key.name);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

ConfigValue ValueOf(const ConfigKey& key, const ConfigFlags& flags, const Environment& environment,
                    const ConfigFile& file) {
  if (const auto flag = flags.texts.find(key.name); flag != flags.texts.end()) {
    return {&key, flag->second, "flag " + FlagOf(key)};
  }
  const std::string variable = VariableOf(key);
  if (const auto text = environment.variable(variable)) {
    const bool is_list = key.kind == ConfigKey::Kind::kList;
    return {&key, is_list ? SplitAtCommas(*text) : ConfigTexts{*text}, "environment " + variable};
  }
  if (const auto entry = file.entries.find(key.name); entry != file.entries.end()) {
    return {&key, entry->second.texts, entry->second.position};
  }
  return {&key, {std::string(key.default_text)}, "default"};
}

Status ResolveAndApply(ConfigValue& value, const Environment& environment, Config& config) {
  if (value.key->resolve_auto && value.texts == ConfigTexts{"auto"}) {
    TINYPROF_ASSIGN_OR_RETURN(value.texts[0], value.key->resolve_auto(environment));
  }
  return value.key->apply(value.texts, config);
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// ", here 1-3" for a value that is chosen from the machine.
std::string ChosenHere(const ConfigValue& value, const Config& config) {
  if (value.texts != ConfigTexts{"auto"}) return "";
  if (value.key->name == "memory_limit") {
    return fmt::format(", here {}", SizeText(config.memory_limit_bytes));
  }
  const bool is_chosen = value.key->name == "cpus" && !config.cpus.empty();
  return is_chosen ? fmt::format(", here {}", fmt::join(config.cpus, ",")) : "";
}

std::string TomlOf(const ConfigValue& value) {
  if (value.key->kind == ConfigKey::Kind::kInteger) return value.texts[0];
  if (value.key->kind != ConfigKey::Kind::kList) return Quoted(value.texts[0]);
  std::string list = "[";
  for (const std::string& text : value.texts) {
    list += (list.size() > 1 ? ", " : "") + Quoted(text);
  }
  return list + "]";
}

}  // namespace

Environment ProcessEnvironment() {
  return {geteuid(), [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            if (!value || !*value) return std::nullopt;
            return value;
          }};
}

LoadedConfig LoadConfig(const ConfigFlags& flags, const Environment& environment) {
  LoadedConfig loaded;
  const ConfigFile file = ReadFileOf(flags, environment);
  loaded.errors = file.errors;
  for (const ConfigKey& key : ConfigKeys()) {
    ConfigValue value = ValueOf(key, flags, environment, file);
    if (const Status applied = ResolveAndApply(value, environment, loaded.config); !applied) {
      loaded.errors.push_back(
          fmt::format("{}: {}: {}", value.origin, key.name, applied.error().message));
    }
    loaded.values.push_back(std::move(value));
  }
  return loaded;
}

std::string PrintConfig(const LoadedConfig& loaded) {
  std::string text;
  for (const ConfigValue& value : loaded.values) {
    const std::string unit = value.key->unit.empty() ? "" : fmt::format(" ({})", value.key->unit);
    text += fmt::format("# {}{}\n{} = {}  # {}{}\n", value.key->help, unit, value.key->name,
                        TomlOf(value), value.origin, ChosenHere(value, loaded.config));
  }
  return text;
}

}  // namespace tinyprof
