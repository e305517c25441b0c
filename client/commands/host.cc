#include <CLI/CLI.hpp>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

Result<ExitCode> PrintGetHost(Session& session) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(
      const v1::GetHostResponse response,
      connection->Call(connection->hosts(), &Connection::Hosts::GetHost, v1::GetHostRequest()));
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(HostDocument(response.host()))
                               : session.Print(HostText(response.host(), session.MakeLayout())));
  return ExitCode::kOk;
}

}  // namespace

Action SetupHost(CLI::App&, GlobalOptions&) { return PrintGetHost; }

}  // namespace tinyprof::client
