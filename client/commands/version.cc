#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

constexpr auto kVersionTimeout = std::chrono::seconds(5);

// The daemon's version; a daemon that cannot be reached is no failure of this command.
Result<std::string> DaemonVersion(Session& session) {
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect(kVersionTimeout));
  TINYPROF_ASSIGN_OR_RETURN(
      const v1::GetHostResponse response,
      connection->Call(connection->hosts(), &Connection::Hosts::GetHost, v1::GetHostRequest()));
  return response.host().daemon_version();
}

Result<ExitCode> PrintVersions(Session& session) {
  const Result<std::string> daemon = DaemonVersion(session);
  if (session.options().json) {
    Json document = NewDocument(session.command());
    document["client"] = TINYPROF_VERSION;
    document["daemon"] = daemon ? Json(*daemon) : Json(nullptr);
    document["daemon_reason"] = daemon ? Json(nullptr) : Json(daemon.error().message);
    TINYPROF_RETURN_IF_ERROR(session.Print(document));
  } else {
    TINYPROF_RETURN_IF_ERROR(session.Print(fmt::format(
        "tinyprof-client {}\ntinyprofd {}\n", TINYPROF_VERSION,
        daemon ? Printable(*daemon) : fmt::format("n/a ({})", Printable(daemon.error().message)))));
  }
  return ExitCode::kOk;
}

}  // namespace

Action SetupVersion(CLI::App&, GlobalOptions&) { return PrintVersions; }

}  // namespace tinyprof::client
