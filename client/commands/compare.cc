#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/commands/command.h"
#include "client/commands/options.h"
#include "client/lib/parse.h"
#include "client/render/comparison_report.h"
#include "client/render/names.h"
#include "kernels/base/split.h"

namespace tinyprof::client {
namespace {

struct Options {
  std::string a;
  std::string b;
  std::string tolerance;
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

// "r-1" or "r-1,r-3,r-5".
Result<std::vector<v1::Run>> RunsOfSide(Connection& connection, const std::string& ids) {
  std::vector<v1::Run> runs;
  for (const std::string& id : SplitAtCommas(ids)) {
    if (id.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_RUN_IDS",
                  fmt::format("'{}' names a run by nothing: write ids as A1,A2,A3", ids));
    }
    TINYPROF_ASSIGN_OR_RETURN(v1::Run run, RunWithResult(connection, id));
    runs.push_back(std::move(run));
  }
  TINYPROF_RETURN_IF_ERROR(CheckSide(runs));
  return runs;
}

// Absent: DefaultTolerance.
Result<std::optional<double>> ToleranceOf(const Options& options) {
  if (options.tolerance.empty()) return std::nullopt;
  return ParsePercent(options.tolerance);
}

Result<ExitCode> Compare(Session& session, const Options& options) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(const std::optional<double> tolerance, ToleranceOf(options));
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<v1::Run> a, RunsOfSide(*connection, options.a));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<v1::Run> b, RunsOfSide(*connection, options.b));
  const Comparison comparison =
      CompareRuns(a, b, tolerance.value_or(DefaultTolerance(a.size(), b.size())));
  TINYPROF_RETURN_IF_ERROR(
      session.options().json
          ? session.Print(ComparisonDocument(a, b, comparison))
          : session.Print(ComparisonText(a, b, comparison, session.MakeLayout(options.top))));
  return comparison.verdict == Verdict::kSlower ? ExitCode::kRegression : ExitCode::kOk;
}

}  // namespace

Action SetupCompare(CLI::App& app, GlobalOptions&) {
  const auto options = std::make_shared<Options>();
  app.add_option("A", options->a,
                 "The run to compare with, by its id; or several of the same work, A1,A2,A3")
      ->required();
  app.add_option("B", options->b, "The run that may be faster or slower, or several")->required();
  app.add_option("--tolerance", options->tolerance,
                 "What a difference must be above, beside the intervals; 1% of several runs, 10% "
                 "of one a side")
      ->type_name("SHARE");
  AddTopOption(app, options->top);
  return [options](Session& session) { return Compare(session, *options); };
}

}  // namespace tinyprof::client
