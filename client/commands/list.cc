#include <CLI/CLI.hpp>
#include <algorithm>

#include "client/commands/command.h"
#include "client/commands/validators.h"

namespace tinyprof::client {
namespace {

constexpr int kMaxPage = 1000;

Result<ExitCode> ListRuns(Session& session, int limit) {
  TINYPROF_RETURN_IF_ERROR(session.CheckOutput());
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect());
  std::vector<v1::Run> runs;
  v1::ListRunsRequest request;
  do {
    request.set_page_size(std::min(limit - static_cast<int>(runs.size()), kMaxPage));
    TINYPROF_ASSIGN_OR_RETURN(
        const v1::ListRunsResponse response,
        connection->Call(connection->profiler(), &Connection::Profiler::ListRuns, request));
    runs.insert(runs.end(), response.runs().begin(), response.runs().end());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty() && static_cast<int>(runs.size()) < limit);
  TINYPROF_RETURN_IF_ERROR(session.options().json
                               ? session.Print(RunListDocument(runs))
                               : session.Print(RunListText(runs, session.MakeLayout())));
  return ExitCode::kOk;
}

}  // namespace

Action SetupList(CLI::App& app, GlobalOptions&) {
  const auto limit = std::make_shared<int>(50);
  app.add_option("--limit", *limit, "Runs to list at most")
      ->check(WholeNumber(1, 100000))
      ->type_name("N");
  return [limit](Session& session) { return ListRuns(session, *limit); };
}

}  // namespace tinyprof::client
