#include "client/lib/address.h"

#include <fmt/format.h>
#include <sys/un.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace tinyprof::client {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

tl::unexpected<Error> BadAddress(std::string message, std::string_view got) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ADDRESS", std::move(message),
              {{"got", std::string(got)}});
}

Result<std::string> CheckSocket(std::string_view path, std::string_view text) {
  if (!path.starts_with('/')) {
    return BadAddress(fmt::format("the socket of '{}' is no absolute path; write unix:/path", text),
                      text);
  }
  constexpr size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() > kMaxPath) {
    return BadAddress(
        fmt::format("the socket path of '{}' has {} bytes and the kernel takes at most {}; use a "
                    "shorter one, such as /tmp/tinyprofd.sock",
                    text, path.size(), kMaxPath),
        text);
  }
  return fmt::format("{}{}", kUnixPrefix, path);
}

// A name, an IPv4 address or an IPv6 address in brackets; no scheme, no slash.
bool IsHost(std::string_view text) {
  const auto all = [](std::string_view part, std::string_view others) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [&](unsigned char c) {
      return std::isalnum(c) != 0 || others.find(static_cast<char>(c)) != others.npos;
    });
  };
  const bool in_brackets = text.size() > 2 && text.starts_with('[') && text.ends_with(']');
  return in_brackets ? all(text.substr(1, text.size() - 2), ":.%") : all(text, ".-_");
}

tl::unexpected<Error> BadConfig(const std::string& path, const std::string& what) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_CONFIG", fmt::format("{}: {}", path, what),
              {{"path", path}});
}

// The `address` of the config file; nullopt when there is no file or it has none.
Result<std::optional<std::string>> AddressFromConfig(const std::string& path) {
  std::ifstream file(path);
  if (path.empty() || !file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  try {
    const std::string text = content.str();
    const toml::table table = toml::parse(std::string_view(text), std::string_view(path));
    for (const auto& [key, node] : table) {
      if (key != std::string_view("address") || !node.is_string()) {
        return BadConfig(path, fmt::format("line {}: '{}' is not wanted; the file takes "
                                           "address = \"unix:/path\" or \"localhost:7070\"",
                                           node.source().begin.line, std::string_view(key)));
      }
    }
    return table["address"].value<std::string>();
  } catch (const toml::parse_error& error) {
    return BadConfig(path,
                     fmt::format("line {}: {}", error.source().begin.line, error.description()));
  }
}

}  // namespace

std::string SocketPath(const std::string& target) {
  return target.starts_with(kUnixPrefix) ? target.substr(kUnixPrefix.size()) : "";
}

Result<std::string> NormalizeAddress(std::string_view text) {
  if (text.starts_with('/')) return CheckSocket(text, text);
  if (text.starts_with(kUnixPrefix)) {
    std::string_view path = text.substr(kUnixPrefix.size());
    if (path.starts_with("///")) path.remove_prefix(2);
    return CheckSocket(path, text);
  }
  const size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (colon == std::string_view::npos || !IsHost(text.substr(0, colon)) || error != std::errc() ||
      end != port.data() + port.size() || number < 1 || number > 65535) {
    return BadAddress(
        fmt::format("'{}' is no address; write unix:/path/to/socket or HOST:PORT, such as "
                    "localhost:7070",
                    text),
        text);
  }
  return std::string(text);
}

std::string ConfigPath(const Environment& env) {
  if (const auto base = env("XDG_CONFIG_HOME"); base && !base->empty()) {
    return *base + "/tinyprof/client.toml";
  }
  if (const auto home = env("HOME"); home && !home->empty()) {
    return *home + "/.config/tinyprof/client.toml";
  }
  return "";
}

// Where a daemon of this user puts its socket: the runtime directory, or without one its state's.
static std::vector<std::string> OwnSockets(const Environment& env) {
  std::vector<std::string> sockets;
  constexpr struct {
    const char* variable;
    const char* below;
  } kPlaces[] = {{"XDG_RUNTIME_DIR", ""}, {"XDG_STATE_HOME", ""}, {"HOME", "/.local/state"}};
  for (const auto& place : kPlaces) {
    if (const auto folder = env(place.variable); folder && !folder->empty()) {
      sockets.push_back(fmt::format("{}{}/tinyprof/tinyprofd.sock", *folder, place.below));
    }
  }
  return sockets;
}

Result<Address> ResolveAddress(const std::string& flag, const Environment& env, bool is_root) {
  const auto from = [](std::string_view text, std::string origin) -> Result<Address> {
    auto target = NormalizeAddress(text);
    if (!target) {
      target.error().message += fmt::format(" (from {})", origin);
      return tl::unexpected(target.error());
    }
    return Address{*target, std::move(origin)};
  };
  if (!flag.empty()) return from(flag, "--address");
  if (const auto value = env("TINYPROF_ADDRESS"); value && !value->empty()) {
    return from(*value, "TINYPROF_ADDRESS");
  }
  const std::string config = ConfigPath(env);
  TINYPROF_ASSIGN_OR_RETURN(const auto configured, AddressFromConfig(config));
  if (configured) return from(*configured, config);
  if (!is_root) {
    for (const std::string& socket : OwnSockets(env)) {
      std::error_code ignored;
      if (std::filesystem::exists(socket, ignored)) return from(socket, "default");
    }
  }
  return from(kSystemAddress, "default");
}

}  // namespace tinyprof::client
