// Why a unix socket cannot be talked to, told from what the file system and a connection show.
#pragma once

#include <string>

#include "kernels/base/error.h"

namespace tinyprof::client {

// The error for `path`, an absolute one at which no answer came; takes up to a second.
// PERMISSION_DENIED / "SOCKET_DENIED", else UNAVAILABLE / "DAEMON_NOT_RUNNING", "NO_DIRECTORY",
// "NOT_A_SOCKET", "CONNECTION_CLOSED" (as a forwarded socket does whose far end cannot be opened)
// or "DAEMON_SILENT".
Error ExplainSocket(const std::string& path);

}  // namespace tinyprof::client
