// The client against a daemon that answers, refuses, hangs and dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/client/flow_fixture.h"

namespace tinyprof::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(Flow, AnalyzePrintsEachFormat) {
  const Caught table = Call({"analyze", "tiny"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("Gemm"));
  EXPECT_EQ(json::parse(Call({"analyze", "tiny", "--json"}).out)["totals"]["flop_count"], 54);
  EXPECT_THAT(Call({"analyze", "tiny", "--csv"}).out, HasSubstr("\n0,fc,Gemm,"));
}

TEST_F(Flow, OutputGoesToTheFile) {
  const std::string path = (daemon_.directory() / "out.json").string();
  const Caught caught = Call({"analyze", "tiny", "--json", "-o", path});
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(caught.out, "");
  EXPECT_EQ(json::parse(std::ifstream(path))["command"], "analyze");
}

TEST_F(Flow, ProfileSendsItsOptionsAndPrintsTheRun) {
  daemon_.profiler.states = {RunInState(v1::RUN_STATE_QUEUED), SucceededRun()};
  const Caught caught =
      Call({"profile",          "linear(4,3)", "--input",    "x=2x4", "--backend",   "onednn",
            "--conv-algorithm", "winograd",    "--fuse",     "on",    "--isa",       "avx2",
            "--threads",        "2",           "--batch",    "3",     "--seed",      "7",
            "--cache",          "cold",        "--counters", "none",  "--precision", "0.5%",
            "--time-budget",    "1500ms",      "--timeout",  "1m",    "--json"});
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(json::parse(caught.out)["run"]["state"], "SUCCEEDED");
  EXPECT_THAT(caught.err, HasSubstr("queued: it is next"));
  const v1::RunSpec& spec = daemon_.profiler.start_request.spec();
  EXPECT_EQ(spec.model().text(), "linear(4,3)");
  EXPECT_EQ(spec.model().inputs(0).name(), "x");
  EXPECT_THAT(spec.model().inputs(0).dims(), testing::ElementsAre(2, 4));
  EXPECT_EQ(spec.model().batch(), 3);
  EXPECT_EQ(spec.model().seed(), 7u);
  EXPECT_EQ(spec.backend(), v1::BACKEND_ONEDNN);
  EXPECT_EQ(spec.conv_algorithm(), v1::CONV_ALGORITHM_WINOGRAD);
  EXPECT_TRUE(spec.fuse());
  EXPECT_EQ(spec.isa(), "avx2");
  EXPECT_EQ(spec.threads(), 2);
  EXPECT_EQ(spec.cache(), v1::CACHE_MODE_COLD);
  EXPECT_EQ(spec.counters(), v1::COUNTER_MODE_NONE);
  EXPECT_DOUBLE_EQ(spec.precision(), 0.005);
  EXPECT_EQ(spec.time_budget().seconds(), 1);
  EXPECT_EQ(spec.time_budget().nanos(), 500'000'000);
  EXPECT_EQ(spec.timeout().seconds(), 60);
  EXPECT_FALSE(daemon_.profiler.start_request.request_id().empty());
}

TEST_F(Flow, LayerLatencyAndMemoryPrintTheirPart) {
  daemon_.profiler.states = {SucceededRun()};
  EXPECT_THAT(Call({"latency", "tiny"}).out, HasSubstr("median"));
  EXPECT_THAT(Call({"memory", "tiny"}).out, HasSubstr("peak so far"));
  v1::Run single = SucceededRun();
  single.mutable_report()->mutable_layers()->RemoveLast();
  daemon_.profiler.states = {single};
  EXPECT_THAT(Call({"layer", "linear(4,3)", "--input", "2x4"}).out, HasSubstr("memory (DRAM)"));
}

TEST_F(Flow, AFailedRunGivesAWholeDocument) {
  daemon_.profiler.states = {RunInState(v1::RUN_STATE_FAILED)};
  const Caught caught = Call({"profile", "tiny", "--json"});
  EXPECT_EQ(caught.exit_code, 1);
  EXPECT_EQ(json::parse(caught.out)["run"]["error"]["reason"], "OUT_OF_MEMORY");
  EXPECT_THAT(caught.err, HasSubstr("the worker needs more than 1 GiB (in layer fc)"));
}

TEST_F(Flow, ARunThatLacksTheCountersItAskedForEndsAsItsRefusalDoes) {
  v1::Run run = RunInState(v1::RUN_STATE_FAILED);
  run.mutable_error()->set_reason("COUNTERS_UNAVAILABLE");
  daemon_.profiler.states = {run};
  EXPECT_EQ(Call({"profile", "tiny", "--counters", "papi"}).exit_code, 5);
}

TEST_F(Flow, RefusalsKeepTheDaemonsSentenceAndReason) {
  const struct {
    grpc::StatusCode code;
    int exit_code;
  } kCases[] = {{grpc::StatusCode::INVALID_ARGUMENT, 2},
                {grpc::StatusCode::NOT_FOUND, 2},
                {grpc::StatusCode::PERMISSION_DENIED, 4},
                {grpc::StatusCode::UNAUTHENTICATED, 4},
                {grpc::StatusCode::FAILED_PRECONDITION, 5},
                {grpc::StatusCode::RESOURCE_EXHAUSTED, 5},
                {grpc::StatusCode::INTERNAL, 1}};
  for (const auto& item : kCases) {
    daemon_.profiler.start_status = Refusal(item.code, "THE_REASON", "the daemon's sentence");
    const Caught caught = Call({"profile", "tiny", "--json"});
    EXPECT_EQ(caught.exit_code, item.exit_code);
    EXPECT_EQ(caught.err, "tinyprof-client: the daemon's sentence\n");
    const json error = json::parse(caught.out)["error"];
    EXPECT_EQ(error["reason"], "THE_REASON");
    EXPECT_EQ(error["metadata"]["key"], "value");
  }
}

TEST_F(Flow, WhatRanOutWhileSomethingRanIsAFailure) {
  const std::pair<const char*, int> kCases[] = {
      {"QUEUE_FULL", 5},    {"MODEL_TOO_LARGE", 5}, {"DISK_FULL", 5},   {"TOO_MANY_WAITING", 5},
      {"WORKER_KILLED", 1}, {"OUT_OF_MEMORY", 1},   {"SPAWN_FAILED", 1}};
  for (const auto& [reason, exit_code] : kCases) {
    daemon_.profiler.start_status =
        Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, reason, "the daemon's sentence");
    EXPECT_EQ(Call({"profile", "tiny"}).exit_code, exit_code) << reason;
  }
}

TEST_F(Flow, UnavailableIsTriedAgainTwice) {
  daemon_.profiler.unavailable_calls = 2;
  EXPECT_EQ(Call({"analyze", "tiny"}).exit_code, 0);
  daemon_.profiler.unavailable_calls = 3;
  const Caught caught = Call({"analyze", "tiny"});
  EXPECT_EQ(caught.exit_code, 3);
  EXPECT_THAT(caught.err, HasSubstr("tinyprofd is shutting down"));
}

TEST_F(Flow, ADeadDaemonIsNamedWithItsAddress) {
  daemon_.Kill();
  const Caught caught = Call({"host"});
  EXPECT_EQ(caught.exit_code, 3);
  EXPECT_EQ(caught.err, "tinyprof-client: tinyprofd is not running at " + daemon_.address() +
                            "; start it with `tinyprofd --listen " + daemon_.address() +
                            "` or pass --address\n");
}

TEST_F(Flow, ADaemonThatDiesMidRunIsReportedWithTheRun) {
  daemon_.profiler.states = {RunInState(v1::RUN_STATE_RUNNING)};
  daemon_.profiler.hold = true;
  std::thread killer = WhenWatched(daemon_, [this] { daemon_.Kill(); });
  const Caught caught = Call({"profile", "tiny"});
  killer.join();
  EXPECT_EQ(caught.exit_code, 3);
  EXPECT_THAT(caught.err, HasSubstr("tinyprofd went away; the run r-1"));
  EXPECT_THAT(caught.err, HasSubstr("`tinyprof-client show r-1` once it is back"));
}

TEST_F(Flow, VerifyStreamsTensorsInPieces) {
  const auto write = [this](const char* name, size_t bytes) {
    std::ofstream(daemon_.directory() / name) << std::string(bytes, 'x');
  };
  write("input_0.pb", (1 << 20) + 1);
  write("input_1.pb", 0);
  write("output_0.pb", 10);
  const Caught caught = Call({"verify", "tiny", "--data", daemon_.directory().string(), "--json"});
  EXPECT_EQ(caught.exit_code, 1) << caught.err;
  EXPECT_EQ(json::parse(caught.out)["ok"], false);
  const auto& requests = daemon_.profiler.verify_requests;
  ASSERT_TRUE(requests.at(0).has_spec());
  size_t input_bytes = 0;
  int pieces_of_empty = 0;
  for (const auto& request : requests) {
    EXPECT_LE(request.tensor().data().size(), size_t{1} << 20);
    if (!request.has_tensor() || request.tensor().is_output()) continue;
    if (request.tensor().index() == 0) input_bytes += request.tensor().data().size();
    if (request.tensor().index() == 1) ++pieces_of_empty;
  }
  EXPECT_EQ(input_bytes, (size_t{1} << 20) + 1);
  EXPECT_EQ(pieces_of_empty, 1);
  EXPECT_TRUE(requests.back().tensor().is_output());

  write("input_3.pb", 1);
  const Caught gap = Call({"verify", "tiny", "--data", daemon_.directory().string()});
  EXPECT_EQ(gap.exit_code, 2);
  EXPECT_THAT(gap.err, HasSubstr("has input_3.pb but no input_2.pb"));
}

TEST_F(Flow, HealthAndVersion) {
  EXPECT_EQ(Call({"health"}).exit_code, 0);
  daemon_.SetServing(false);
  EXPECT_EQ(Call({"health"}).exit_code, 3);
  EXPECT_THAT(Call({"version"}).out, HasSubstr("tinyprofd 9.9.9"));
  daemon_.Kill();
  EXPECT_EQ(Call({"health", "--wait", "300ms"}).exit_code, 3);
  const json version = json::parse(Call({"version", "--json"}).out);
  EXPECT_EQ(version["daemon"], nullptr);
  EXPECT_TRUE(version["daemon_reason"].is_string());
}

TEST_F(Flow, AnUnknownRunIsAUsageError) {
  const Caught caught = Call({"show", "r-2"});
  EXPECT_EQ(caught.exit_code, 2);
  EXPECT_EQ(caught.err, "tinyprof-client: there is no run r-2\n");
}

// A daemon that the kernel takes connections for while nobody reads them, as after `kill -STOP`.
TEST_F(Flow, ADaemonThatTakesConnectionsButDoesNotAnswerIsSaidSo) {
  const std::string path = (daemon_.directory() / "silent.sock").string();
  const int silent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(silent, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(bind(silent, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(silent, 8), 0);
  const Caught caught = RunCaught({"host", "--address", "unix:" + path, "--json"}, interrupts_);
  close(silent);
  EXPECT_EQ(caught.exit_code, 3);
  EXPECT_THAT(caught.err, HasSubstr("takes connections but does not answer"));
  EXPECT_EQ(json::parse(caught.out)["error"]["reason"], "DAEMON_SILENT");
}

}  // namespace
}  // namespace tinyprof::client
