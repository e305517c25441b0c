#include <CLI/CLI.hpp>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

Result<ExitCode> PrintListCounters(Session& session) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(const v1::ListCountersResponse response,
                            connection->Call(connection->hosts(), &Connection::Hosts::ListCounters,
                                             v1::ListCountersRequest()));
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(CountersDocument(response))
                               : session.Print(CountersText(response, session.MakeLayout())));
  return ExitCode::kOk;
}

}  // namespace

Action SetupCounters(CLI::App&, GlobalOptions&) { return PrintListCounters; }

}  // namespace tinyprof::client
