#include <CLI/CLI.hpp>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

// Measuring takes a minute or two, after the runs that are queued before it.
constexpr auto kMeasureTimeout = std::chrono::minutes(30);

Result<ExitCode> PrintRoofline(Session& session, bool measure) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection,
                            measure ? session.Connect(kMeasureTimeout) : session.Connect());
  if (measure) session.Note("measuring the roofline; runs that are queued come first");
  v1::GetRooflineRequest request;
  request.set_measure(measure);
  TINYPROF_ASSIGN_OR_RETURN(
      const v1::GetRooflineResponse response,
      connection->Call(connection->hosts(), &Connection::Hosts::GetRoofline, request));
  TINYPROF_RETURN_IF_ERROR(
      session.options().json
          ? session.Print(RooflineDocument(response.roofline()))
          : session.Print(RooflineText(response.roofline(), session.MakeLayout())));
  return ExitCode::kOk;
}

}  // namespace

Action SetupRoofline(CLI::App& app, GlobalOptions&) {
  const auto measure = std::make_shared<bool>(false);
  app.add_flag("--measure", *measure, "Measure anew, in the queue with the runs")
      ->disable_flag_override();
  return [measure](Session& session) { return PrintRoofline(session, *measure); };
}

}  // namespace tinyprof::client
