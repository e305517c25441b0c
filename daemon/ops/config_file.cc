#include "daemon/ops/config_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "kernels/base/words.h"

namespace tinyprof {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

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

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

tl::unexpected<Error> Unreadable(std::string why) {
  return Fail(ErrorCode::kInvalidArgument, "CONFIG_FILE", std::move(why));
}

// Of a plain file and no more than it may have: neither a pipe nobody writes to nor a device
// without end can hold up the start.
Result<std::string> ContentOf(const std::string& path) {
  const auto failed = [&] {
    return Unreadable(
        fmt::format("cannot read the configuration file {}: {}", path, std::strerror(errno)));
  };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return failed();
  const std::unique_ptr<FILE, CloseFile> stream(fdopen(fd, "r"));
  struct stat status {};
  if (!stream || fstat(fd, &status) != 0) return failed();
  if (!S_ISREG(status.st_mode)) {
    return Unreadable(fmt::format("the configuration file {} is {}", path,
                                  S_ISDIR(status.st_mode) ? "a directory" : "not a regular file"));
  }
  std::string content(kMaxBytes + 1, '\0');
  const size_t length = std::fread(content.data(), 1, content.size(), stream.get());
  if (std::ferror(stream.get()) != 0) return failed();
  if (length > kMaxBytes) {
    return Unreadable(
        fmt::format("the configuration file {} is larger than {}", path, SizeText(kMaxBytes)));
  }
  content.resize(length);
  return content;
}

}  // namespace

ConfigFile ReadConfigFile(const std::string& path) {
  ConfigFile file;
  const Result<std::string> read = ContentOf(path);
  if (!read.has_value()) {
    file.errors.push_back(read.error().message);
    return file;
  }
  const std::string& content = *read;
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
