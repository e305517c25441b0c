// How runs end that are not left alone: cancelled, interrupted, timed out, not written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/client/flow_fixture.h"

namespace tinyprof::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Ending = Flow;

TEST_F(Ending, CancelOfAnEndedRunSaysSo) {
  v1::CancelRunResponse& answer = daemon_.profiler.cancel_response;
  *answer.mutable_run() = RunInState(v1::RUN_STATE_SUCCEEDED);
  answer.set_already_ended(true);
  const Caught succeeded = Call({"cancel", "r-1"});
  EXPECT_EQ(succeeded.exit_code, 5);
  EXPECT_EQ(succeeded.out, "");
  EXPECT_EQ(succeeded.err,
            "tinyprof-client: run r-1 has already ended (SUCCEEDED); see `tinyprof-client show "
            "r-1`\n");
  EXPECT_EQ(json::parse(Call({"cancel", "r-1", "--json"}).out)["error"]["reason"], "RUN_ENDED");
  // What was asked for is so already.
  *answer.mutable_run() = RunInState(v1::RUN_STATE_CANCELLED);
  const Caught cancelled = Call({"cancel", "r-1"});
  EXPECT_EQ(cancelled.exit_code, 0);
  EXPECT_EQ(cancelled.out, "run r-1 has already ended (CANCELLED)\n");
}

TEST_F(Ending, CancelOfARunningRunSaysThatItIsOnItsWay) {
  EXPECT_EQ(Call({"cancel", "r-1"}).out, "run r-1: cancelling\n");
  EXPECT_EQ(json::parse(Call({"cancel", "r-1", "--json"}).out)["run"]["state"], "RUNNING");
  // A run that waits is cancelled on the spot.
  *daemon_.profiler.cancel_response.mutable_run() = RunInState(v1::RUN_STATE_CANCELLED);
  EXPECT_EQ(Call({"cancel", "r-1"}).out, "run r-1: CANCELLED\n");
}

TEST_F(Ending, TheFirstInterruptCancelsTheRunAndSaysSoInEachFormat) {
  for (const std::vector<std::string>& format :
       {std::vector<std::string>{}, {"--json"}, {"--csv"}}) {
    FakeDaemon daemon;
    daemon.profiler.states = {RunInState(v1::RUN_STATE_RUNNING)};
    daemon.profiler.hold = true;
    std::thread finger = WhenWatched(daemon, [this] { interrupts_.Trigger(); });
    std::vector<std::string> args = {"profile", "tiny", "-q", "--address", daemon.address()};
    args.insert(args.end(), format.begin(), format.end());
    const Caught caught = RunCaught(args, interrupts_);
    finger.join();
    EXPECT_EQ(caught.exit_code, 130);
    EXPECT_EQ(daemon.profiler.cancel_calls, 1);
    EXPECT_EQ(caught.err,
              "tinyprof-client: interrupted; cancelling the run r-1 (Ctrl-C again leaves at once)\n"
              "tinyprof-client: the run r-1 was cancelled\n");
  }
  EXPECT_EQ(left_, 0);
}

// The daemon's own reason stays where nobody here asked for the end.
TEST_F(Ending, ARunThatTheDaemonCancelledSaysWhy) {
  v1::Run run = RunInState(v1::RUN_STATE_CANCELLED);
  run.mutable_error()->set_reason("DRAINING");
  run.mutable_error()->set_message(
      "tinyprofd was stopped before the run had ended: start it again");
  daemon_.profiler.states = {run};
  const Caught caught = Call({"profile", "tiny", "-q"});
  EXPECT_EQ(caught.exit_code, 1);
  EXPECT_EQ(caught.err,
            "tinyprof-client: the run r-1 was cancelled: tinyprofd was stopped before the run had "
            "ended: start it again\n");
}

TEST_F(Ending, AResultThatCannotBeWrittenIsKept) {
  daemon_.profiler.states = {SucceededRun()};
  for (const std::vector<std::string>& format :
       {std::vector<std::string>{}, {"--json"}, {"--csv"}}) {
    std::vector<std::string> args = {"profile", "tiny", "-o", "/dev/full"};
    args.insert(args.end(), format.begin(), format.end());
    const Caught caught = Call(args);
    EXPECT_EQ(caught.exit_code, 1);
    EXPECT_THAT(caught.err, HasSubstr("cannot write /dev/full: No space left on device; the result "
                                      "is kept: `tinyprof-client show r-1`\n"));
  }
}

// The output may become impossible while the run goes on.
TEST_F(Ending, AResultWhoseFolderWentAwayIsNoMistakeOfUse) {
  const auto folder = daemon_.directory() / "results";
  std::filesystem::create_directory(folder);
  daemon_.profiler.states = {RunInState(v1::RUN_STATE_RUNNING), SucceededRun()};
  std::thread remover(
      [&] { WhenWatched(daemon_, [&] { std::filesystem::remove(folder); }).join(); });
  const Caught caught = Call({"profile", "tiny", "-o", (folder / "out.txt").string()});
  remover.join();
  EXPECT_EQ(caught.exit_code, 1);
  EXPECT_THAT(caught.err, HasSubstr("the result is kept"));
}

TEST_F(Ending, TheTimeoutCancelsTheRunAndIsNamedAsTheCause) {
  daemon_.profiler.states = {RunInState(v1::RUN_STATE_RUNNING)};
  daemon_.profiler.hold = true;
  const Caught caught = Call({"profile", "tiny", "-q", "--timeout", "2s", "--json"});
  EXPECT_EQ(caught.exit_code, 124);
  EXPECT_EQ(daemon_.profiler.cancel_calls, 1);
  const json run = json::parse(caught.out)["run"];
  EXPECT_EQ(run["state"], "CANCELLED");
  EXPECT_EQ(run["error"]["reason"], "TIMEOUT");
  EXPECT_EQ(run["error"]["message"], "cancelled because the timeout of 2s was over");
  EXPECT_EQ(caught.err,
            "tinyprof-client: the timeout of 2s is over; cancelling the run r-1\n"
            "tinyprof-client: the run r-1 was cancelled because the timeout of 2s was over\n");
}

TEST_F(Ending, ABudgetThatDoesNotFitTheTimeoutIsRefusedWithOneThatDoes) {
  const struct {
    const char* budget;
    const char* timeout;
    const char* advice;
  } kCases[] = {
      {"10s", "2s",
       "--time-budget 10s is not below --timeout 2s, and loading comes on top; take "
       "--time-budget 1s or a longer --timeout"},
      {"2s", "2s", "take --time-budget 1s or"},
      {"1h", "5s", "take --time-budget 2500ms or"},
      {"2ms", "1ms", "loading comes on top; take a longer --timeout"},
  };
  for (const auto& item : kCases) {
    for (const char* command : {"profile", "memory"}) {
      const Caught caught =
          Call({command, "tiny", "--time-budget", item.budget, "--timeout", item.timeout});
      EXPECT_EQ(caught.exit_code, 2) << caught.err;
      EXPECT_THAT(caught.err, HasSubstr(item.advice));
      EXPECT_EQ(daemon_.profiler.watch_calls, 0);
    }
  }
}

// The daemon takes half of a short timeout for a budget that is not given.
TEST_F(Ending, ABudgetThatIsNotGivenFitsTheTimeout) {
  daemon_.profiler.states = {SucceededRun()};
  const auto asked = [this](std::vector<std::string> args) {
    args.insert(args.begin() + 1, "tiny");
    EXPECT_EQ(Call(args).exit_code, 0);
    return daemon_.profiler.start_request.spec();
  };
  EXPECT_FALSE(asked({"profile", "--timeout", "2s"}).has_time_budget());
  EXPECT_FALSE(asked({"latency"}).has_time_budget());
  EXPECT_EQ(asked({"memory"}).time_budget().seconds(), 1);
  EXPECT_EQ(asked({"memory", "--timeout", "1s"}).time_budget().nanos(), 500'000'000);
}

TEST_F(Ending, WatchingLeavesTheRunAlone) {
  daemon_.profiler.states = {RunInState(v1::RUN_STATE_RUNNING)};
  daemon_.profiler.hold = true;
  std::thread finger = WhenWatched(daemon_, [this] { interrupts_.Trigger(); });
  const Caught caught = Call({"watch", "r-1"});
  finger.join();
  EXPECT_EQ(caught.exit_code, 130);
  EXPECT_EQ(daemon_.profiler.cancel_calls, 0);
  EXPECT_THAT(caught.err, HasSubstr("the run r-1 goes on"));
}

// The real program, its signals and its exit code.
TEST_F(Ending, ControlCReachesTheProgram) {
  daemon_.profiler.states = {RunInState(v1::RUN_STATE_RUNNING)};
  daemon_.profiler.hold = true;
  const std::string address = daemon_.address();
  const char* const argv[] = {TINYPROF_CLIENT_PATH, "profile",       "tiny",
                              "--address",          address.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  ASSERT_EQ(
      posix_spawn(&child, argv[0], &actions, nullptr, const_cast<char* const*>(argv), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  std::thread finger = WhenWatched(daemon_, [child] { kill(child, SIGINT); });
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  finger.join();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(daemon_.profiler.cancel_calls, 1);
}

}  // namespace
}  // namespace tinyprof::client
