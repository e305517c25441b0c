#include <CLI/CLI.hpp>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

// Calibrating takes seconds, after the runs that are queued before it.
constexpr auto kCalibrateTimeout = std::chrono::minutes(30);

Result<ExitCode> PrintListCounters(Session& session, bool calibrate) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection,
                            calibrate ? session.Connect(kCalibrateTimeout) : session.Connect());
  if (calibrate) session.Note("calibrating the counters; runs that are queued come first");
  v1::ListCountersRequest request;
  request.set_calibrate(calibrate);
  TINYPROF_ASSIGN_OR_RETURN(
      const v1::ListCountersResponse response,
      connection->Call(connection->hosts(), &Connection::Hosts::ListCounters, request));
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(CountersDocument(response))
                               : session.Print(CountersText(response, session.MakeLayout())));
  return ExitCode::kOk;
}

}  // namespace

Action SetupCounters(CLI::App& app, GlobalOptions&) {
  const auto calibrate = std::make_shared<bool>(false);
  app.add_flag("--calibrate", *calibrate, "Calibrate anew, in the queue with the runs")
      ->disable_flag_override();
  return [calibrate](Session& session) { return PrintListCounters(session, *calibrate); };
}

}  // namespace tinyprof::client
