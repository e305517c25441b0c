#include <CLI/CLI.hpp>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

Result<ExitCode> PrintDiagnose(Session& session) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(
      const v1::DiagnoseResponse response,
      connection->Call(connection->hosts(), &Connection::Hosts::Diagnose, v1::DiagnoseRequest()));
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(DoctorDocument(response))
                               : session.Print(DoctorText(response, session.MakeLayout())));
  return ExitCode::kOk;
}

}  // namespace

Action SetupDoctor(CLI::App&, GlobalOptions&) { return PrintDiagnose; }

}  // namespace tinyprof::client
