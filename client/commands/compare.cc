#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/options.h"
#include "client/lib/parse.h"
#include "client/render/comparison_report.h"
#include "client/render/names.h"

namespace tinyprof::client {
namespace {

struct Options {
  std::string a;
  std::string b;
  std::string tolerance = "1%";
  int top = 0;
};

Result<v1::Run> RunWithResult(Connection& connection, const std::string& id) {
  v1::GetRunRequest request;
  request.set_id(id);
  TINYPROF_ASSIGN_OR_RETURN(
      v1::GetRunResponse response,
      connection.Call(connection.profiler(), &Connection::Profiler::GetRun, request));
  if (response.run().has_report()) return std::move(*response.mutable_run());
  return Fail(ErrorCode::kFailedPrecondition, "NO_RESULT",
              fmt::format("run {} is {} and has no result to compare", id,
                          StateName(response.run().state())),
              {{"run", id}});
}

Result<ExitCode> Compare(Session& session, const Options& options) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(const double tolerance, ParsePercent(options.tolerance));
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(const v1::Run a, RunWithResult(*connection, options.a));
  TINYPROF_ASSIGN_OR_RETURN(const v1::Run b, RunWithResult(*connection, options.b));
  const Comparison comparison = CompareRuns(a, b, tolerance);
  TINYPROF_RETURN_IF_ERROR(
      session.options().json
          ? session.Print(ComparisonDocument(a, b, comparison))
          : session.Print(ComparisonText(a, b, comparison, session.MakeLayout(options.top))));
  return comparison.verdict == Verdict::kSlower ? ExitCode::kRegression : ExitCode::kOk;
}

}  // namespace

Action SetupCompare(CLI::App& app, GlobalOptions&) {
  const auto options = std::make_shared<Options>();
  app.add_option("A", options->a, "The run to compare with, by its id")->required();
  app.add_option("B", options->b, "The run that may be faster or slower")->required();
  app.add_option("--tolerance", options->tolerance,
                 "What a difference must be above, beside the intervals, 1%")
      ->type_name("SHARE");
  AddTopOption(app, options->top);
  return [options](Session& session) { return Compare(session, *options); };
}

}  // namespace tinyprof::client
