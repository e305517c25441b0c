// Where tinyprofd listens: --address, then TINYPROF_ADDRESS, then the config file, then the socket
// of a daemon that the user runs, then the system's socket.
#pragma once

#include <string>
#include <string_view>

#include "client/lib/io.h"
#include "kernels/base/error.h"

namespace tinyprof::client {

inline constexpr std::string_view kSystemAddress = "unix:/run/tinyprof/tinyprofd.sock";

struct Address {
  std::string target;  // as gRPC takes it: "unix:/path" or "host:port"
  std::string origin;  // "--address", "TINYPROF_ADDRESS", the config file's path, "default"
};

// `flag` is empty when --address was not given. INVALID_ARGUMENT for an address or a config file
// that is malformed; a config file that does not exist is passed over.
Result<Address> ResolveAddress(const std::string& flag, const Environment& env, bool is_root);

// The path of the config file, or empty when the environment names no home.
std::string ConfigPath(const Environment& env);

// "/path" becomes "unix:/path"; anything but unix:PATH and HOST:PORT is INVALID_ARGUMENT.
Result<std::string> NormalizeAddress(std::string_view text);

// The socket's path, or empty for a TCP address.
std::string SocketPath(const std::string& target);

}  // namespace tinyprof::client
