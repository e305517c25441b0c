#include <CLI/CLI.hpp>

#include "client/commands/command.h"
#include "client/commands/options.h"
#include "client/render/csv.h"

namespace tinyprof::client {
namespace {

struct Options {
  ModelOptions model;
  int top = 0;
};

Result<ExitCode> Analyze(Session& session, const Options& options) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  v1::AnalyzeModelRequest request;
  TINYPROF_ASSIGN_OR_RETURN(*request.mutable_model(), ToModelSpec(session, options.model));
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  TINYPROF_ASSIGN_OR_RETURN(
      const v1::AnalyzeModelResponse response,
      connection->Call(connection->profiler(), &Connection::Profiler::AnalyzeModel, request));
  const v1::ModelAnalysis& analysis = response.analysis();
  std::string text;
  if (session.options().json) {
    text = Dump(AnalysisDocument(session.command(), analysis));
  } else if (session.options().csv) {
    text = AnalysisCsv(analysis);
  } else {
    text = AnalysisText(analysis, session.MakeLayout(options.top));
  }
  TINYPROF_RETURN_IF_ERROR(session.Print(text));
  return ExitCode::kOk;
}

}  // namespace

Action SetupAnalyze(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<Options>();
  AddModelOptions(app, options->model);
  AddCsvFlag(app, global);
  AddTopOption(app, options->top);
  return [options](Session& session) { return Analyze(session, *options); };
}

}  // namespace tinyprof::client
