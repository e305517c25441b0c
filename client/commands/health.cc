#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <thread>

#include "client/commands/command.h"
#include "client/lib/parse.h"

namespace tinyprof::client {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(200);
constexpr auto kHealthTimeout = std::chrono::seconds(5);

// Asks until the daemon serves or `wait` is over; the last answer.
Result<bool> WaitUntilServing(Connection& connection, std::chrono::nanoseconds wait) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (true) {
    Result<bool> serving = IsServing(connection);
    const bool may_change = serving ? !*serving : serving.error().code == ErrorCode::kUnavailable;
    if (!may_change || std::chrono::steady_clock::now() + kPollInterval > deadline) return serving;
    std::this_thread::sleep_for(kPollInterval);
  }
}

Result<ExitCode> Health(Session& session, const std::string& wait_text) {
  std::chrono::nanoseconds wait{0};
  if (!wait_text.empty()) {
    TINYPROF_ASSIGN_OR_RETURN(wait, ParseDuration(wait_text));
  }
  TINYPROF_ASSIGN_OR_RETURN(Connection* const connection, session.Connect(kHealthTimeout));
  TINYPROF_ASSIGN_OR_RETURN(const bool serving, WaitUntilServing(*connection, wait));
  const char* state = serving ? "SERVING" : "NOT_SERVING";
  if (session.options().json) {
    Json document = NewDocument(session.command());
    document["address"] = connection->address().target;
    document["state"] = state;
    TINYPROF_RETURN_IF_ERROR(session.Print(document));
  } else if (!session.options().quiet) {
    TINYPROF_RETURN_IF_ERROR(
        session.Print(fmt::format("{} at {}\n", state, Printable(connection->address().target))));
  }
  return serving ? ExitCode::kOk : ExitCode::kUnreachable;
}

}  // namespace

Action SetupHealth(CLI::App& app, GlobalOptions&) {
  const auto wait = std::make_shared<std::string>();
  app.add_option("--wait", *wait, "Wait so long for the daemon to serve, such as 30s")
      ->type_name("TIME");
  return [wait](Session& session) { return Health(session, *wait); };
}

}  // namespace tinyprof::client
