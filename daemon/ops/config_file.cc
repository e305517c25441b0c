#include "daemon/ops/config_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace tinyprof {
namespace {

std::string PositionOf(const std::string& path, const toml::source_region& region) {
  return fmt::format("{}:{}:{}", path, region.begin.line, region.begin.column);
}

std::string_view Wanted(ConfigKey::Kind kind) {
  switch (kind) {
    case ConfigKey::Kind::kText:
      return "a string";
    case ConfigKey::Kind::kInteger:
      return "an integer";
    case ConfigKey::Kind::kSize:
      return "a string or an integer";
    case ConfigKey::Kind::kList:
      return "an array of strings";
  }
  return "";
}

std::optional<ConfigTexts> ListTexts(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (!array) return std::nullopt;
  ConfigTexts texts;
  for (const toml::node& element : *array) {
    const auto* text = element.as_string();
    if (!text) return std::nullopt;
    texts.push_back(text->get());
  }
  return texts;
}

// The node as texts when its type is one that the key takes.
std::optional<ConfigTexts> TextsOf(const toml::node& node, ConfigKey::Kind kind) {
  if (kind == ConfigKey::Kind::kList) return ListTexts(node);
  if (const auto* text = node.as_string(); text && kind != ConfigKey::Kind::kInteger) {
    return ConfigTexts{text->get()};
  }
  if (const auto* number = node.as_integer(); number && kind != ConfigKey::Kind::kText) {
    return ConfigTexts{std::to_string(number->get())};
  }
  return std::nullopt;
}

std::string UnknownKey(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ConfigKey& key : ConfigKeys()) names.push_back(key.name);
  return fmt::format("unknown key '{}'; the keys are {}", name, fmt::join(names, ", "));
}

void ReadEntry(const std::string& path, const toml::key& name, const toml::node& node,
               ConfigFile& file) {
  const std::string position = PositionOf(path, name.source());
  const auto keys = ConfigKeys();
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& candidate) {
    return candidate.name == name.str();
  });
  if (key == keys.end()) {
    file.errors.push_back(fmt::format("{}: {}", position, UnknownKey(name.str())));
    return;
  }
  std::optional<ConfigTexts> texts = TextsOf(node, key->kind);
  if (!texts) {
    file.errors.push_back(fmt::format("{}: {} must be {}", position, key->name, Wanted(key->kind)));
    return;
  }
  file.entries[std::string(key->name)] = {*std::move(texts), position};
}

}  // namespace

ConfigFile ReadConfigFile(const std::string& path) {
  ConfigFile file;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    file.errors.push_back(fmt::format("the configuration file {} is a directory", path));
    return file;
  }
  std::ifstream stream(path);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) {
    file.errors.push_back(
        fmt::format("cannot read the configuration file {}: {}", path, std::strerror(errno)));
    return file;
  }
  try {
    const toml::table table = toml::parse(std::string_view(content), std::string_view(path));
    for (const auto& [name, node] : table) ReadEntry(path, name, node, file);
  } catch (const toml::parse_error& error) {
    file.errors.push_back(
        fmt::format("{}: {}", PositionOf(path, error.source()), error.description()));
  }
  return file;
}

}  // namespace tinyprof
