// Addresses the daemon may serve at, and the unix socket's path before and after the bind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

// The path of "unix:/path", or empty for a TCP address.
std::string UnixPathOf(std::string_view address);

// The nearest directory above `path` that not every user may enter; empty when there is none.
std::string ClosedDirectoryOf(const std::string& path);

// INVALID_ARGUMENT / "NOT_LOOPBACK" for a TCP address that other machines could reach,
// "BAD_ADDRESS" for one that is no HOST:PORT, "PATH_TOO_LONG" for a path that no socket can have.
Status CheckAddress(std::string_view address);

// What to bind for an address that CheckAddress takes: of localhost with a port, both loopback
// addresses that this machine has, whatever its name resolves to.
std::vector<std::string> BindAddressesOf(const std::string& address);

// Makes the socket's directory if there is none (mode 0750) and removes a socket that nobody
// listens at. FAILED_PRECONDITION / "ADDRESS_IN_USE" when somebody does, "NOT_A_SOCKET" when the
// path is something else, "SOCKET_DIRECTORY" when the directory cannot be made.
Status PrepareUnixPath(const std::string& path);

}  // namespace tinyprof
