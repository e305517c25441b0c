// Runs as a user sees them: results, refusals, the queue, cancelling.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "daemon/model/tensor_proto.h"
#include "tests/e2e/daemon_fixture.h"

namespace tinyprof::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class RunTest : public DaemonTest {};

// The counts of the MLP 784-128-64-10 by hand: 100,352 + 8,192 + 640 MACs and
// 2 mac + bias + minmax = 218,368 + 202 + 192 FLOPs for one sample.
TEST_F(RunTest, ProfileGivesCountsTimesAndReasons) {
  StartDaemon();
  ASSERT_EQ(RunClient({"profile", "mlp", "--json", "--precision", "10%"}), 0) << err();
  const json result = json::parse(out());
  EXPECT_EQ(result["schema_version"], 1);
  EXPECT_EQ(result["run"]["state"], "SUCCEEDED");
  EXPECT_EQ(result["totals"]["mac_count"], 109'184);
  EXPECT_EQ(result["totals"]["flop_count"], 218'762);
  EXPECT_EQ(result["totals"]["parameter_count"], 109'386);
  ASSERT_EQ(result["layers"].size(), 5u);
  for (const json& layer : result["layers"]) {
    EXPECT_GT(layer["time"]["median_ns"], 0) << layer["name"];
    const json& flops = layer["counters"]["flops"];
    EXPECT_NE(flops["value"].is_null(), flops["reason"].is_null()) << layer["name"];
  }
  EXPECT_GT(result["totals"]["overhead"]["dispatch_ns"], 0);
  EXPECT_TRUE(result["totals"]["overhead"]["dispatch_reason"].is_null());
}

// What the label and the advice of each layer say, of whatever was measured.
TEST_F(RunTest, OverheadIsWhatStartingExplains) {
  StartDaemon();
  ASSERT_EQ(RunClient({"profile", "maxpool2d(2); relu; flatten", "--input", "1x8x32x32", "--json"}),
            0)
      << err();
  const json result = json::parse(out());
  const double dispatch_ns = result["totals"]["overhead"]["dispatch_ns"];
  ASSERT_EQ(result["layers"].size(), 3u);
  for (const json& layer : result["layers"]) {
    const json& bound = layer["bound"];
    const double elapsed_ns = layer["time"]["median_ns"];
    const double bound_ns = bound["bound_ns"];
    EXPECT_EQ(bound["label"] == "overhead",
              bound_ns == 0 || (2 * dispatch_ns >= elapsed_ns && 2 * bound_ns < elapsed_ns))
        << layer["name"];
    for (const json& advice : layer["advice"]) {
      EXPECT_EQ(advice["kind"] == "batch", bound["label"] == "overhead") << layer["name"];
      const double gain = advice["speedup"].is_null() ? advice["max_speedup"] : advice["speedup"];
      const double high_ns = layer["time"]["ci_high_ns"];
      // A gain that is cut off at ten may be the larger in the last digit.
      const double limit = high_ns / std::min(dispatch_ns + bound_ns, high_ns / 10);
      EXPECT_LE(gain, limit * (1 + 1e-12)) << layer["name"];
    }
  }
}

// LeNet has two convolutions, pools and three linear layers. Where the build has no oneDNN the
// refusal says what to install.
TEST_F(RunTest, TheOnednnBackendSaysWhatRan) {
  StartDaemon();
  const int exit_code =
      RunClient({"profile", "lenet", "--backend", "onednn", "--json", "--precision", "20%"});
  if (exit_code == 5) {
    EXPECT_THAT(err(), HasSubstr("libdnnl-dev"));
    GTEST_SKIP() << "this build has no oneDNN";
  }
  ASSERT_EQ(exit_code, 0) << err();
  const json onednn = json::parse(out());
  EXPECT_EQ(onednn["run"]["backend"], "onednn");
  int packed_layers = 0;
  for (const json& layer : onednn["layers"]) {
    const std::string op = layer["op"];
    if (op == "Gemm" || op == "AveragePool" || op == "MaxPool") {
      EXPECT_EQ(layer["backend"], "onednn") << layer["name"];
    }
    EXPECT_NE(layer["implementation"], nullptr) << layer["name"];
    if (op == "Reorder") {
      EXPECT_EQ(layer["flop_count"], 0);
      EXPECT_GT(layer["time"]["median_ns"], 0);
    }
    packed_layers += layer["memory"]["packed_weight_bytes"] > 0 ? 1 : 0;
  }
  EXPECT_GE(packed_layers, 1);
  ASSERT_EQ(RunClient({"analyze", "lenet", "--json"}), 0) << err();
  EXPECT_EQ(onednn["totals"]["flop_count"], json::parse(out())["totals"]["flop_count"]);
}

TEST_F(RunTest, TheBestBackendTellsWhatItTried) {
  StartDaemon();
  ASSERT_EQ(RunClient({"profile", "lenet", "--backend", "best", "--json", "--precision", "20%"}), 0)
      << err();
  const json best = json::parse(out());
  EXPECT_EQ(best["run"]["backend"], "best");
  for (const json& layer : best["layers"]) {
    SCOPED_TRACE(layer["name"]);
    EXPECT_THAT((std::set<std::string>{"eigen", "reference", "onednn"}),
                testing::Contains(layer["backend"].get<std::string>()));
    EXPECT_EQ(layer["kernels_tried"].empty(), layer["op"] == "Reorder");
    double last_ns = 0;
    for (const json& tried : layer["kernels_tried"]) {
      EXPECT_GE(tried["median_ns"], last_ns);
      last_ns = tried["median_ns"];
    }
  }
  ASSERT_EQ(RunClient({"profile", "lenet", "--backend", "best", "--precision", "20%"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("runner-up"));
  ASSERT_EQ(RunClient({"analyze", "lenet", "--json"}), 0) << err();
  EXPECT_EQ(best["totals"]["flop_count"], json::parse(out())["totals"]["flop_count"]);
}

// Beside arena, weights and their packed copies, code and heap take 64 MiB at most, also while
// kernels are chosen.
TEST_F(RunTest, TheWorkersMemoryIsThatOfTheModel) {
  StartDaemon();
  for (const std::string backend : {"eigen", "onednn", "best"}) {
    SCOPED_TRACE(backend);
    const int exit_code =
        RunClient({"profile", "resnet18", "--backend", backend, "--json", "--precision", "20%"});
    if (exit_code == 5 && err().find("libdnnl-dev") != std::string::npos) continue;
    ASSERT_EQ(exit_code, 0) << err();
    const json totals = json::parse(out())["totals"];
    const json& memory = totals["memory"];
    const int64_t of_model =
        totals["weight_bytes"].get<int64_t>() + memory["packed_weight_bytes"].get<int64_t>() +
        memory["activation_bytes"].get<int64_t>() + memory["scratch_bytes"].get<int64_t>();
    EXPECT_LE(totals["max_resident_bytes"].get<int64_t>(), of_model + (int64_t{64} << 20));
  }
}

// The MLP is three Gemms, each but the last with a Relu. Counts stay those of the network as given.
TEST_F(RunTest, FusedLayersListTheNodesTheyStandFor) {
  StartDaemon();
  ASSERT_EQ(RunClient({"profile", "mlp", "--fuse", "on", "--json", "--precision", "20%"}), 0)
      << err();
  const json result = json::parse(out());
  EXPECT_EQ(result["run"]["fuse"], true);
  EXPECT_EQ(result["totals"]["flop_count"], 218'762);
  EXPECT_EQ(result["totals"]["parameter_count"], 109'386);
  ASSERT_EQ(result["layers"].size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const json& layer = result["layers"][i];
    EXPECT_EQ(layer["op"], "Gemm");
    EXPECT_EQ(layer["fused"].size(), i < 2 ? 2u : 0u);
    if (i < 2) {
      EXPECT_EQ(layer["fused"][0], layer["name"]);
    }
  }
  ASSERT_EQ(RunClient({"profile", "mlp", "--fuse", "on", "--precision", "20%"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr(result["layers"][0]["name"].get<std::string>() + "+"));
  ASSERT_EQ(RunClient({"analyze", "mlp", "--json"}), 0) << err();
  for (const json& layer : json::parse(out())["layers"]) EXPECT_TRUE(layer["fused"].empty());
}

TEST_F(RunTest, AnalyzeRunsNothing) {
  StartDaemon();
  ASSERT_EQ(RunClient({"analyze", "resnet18", "--json"}), 0) << err();
  EXPECT_EQ(json::parse(out())["totals"]["parameter_count"], 11'689'512);
  EXPECT_EQ(NewestRun(), "");
}

TEST_F(RunTest, LayerListsCanBeProfiled) {
  StartDaemon();
  ASSERT_EQ(RunClient({"profile", "linear(128,64); relu", "--json", "--precision", "20%"}), 0)
      << err();
  EXPECT_EQ(json::parse(out())["totals"]["mac_count"], 8192);
}

TEST_F(RunTest, WhatCannotBeBuiltIsRefusedWithAReason) {
  StartDaemon();
  struct Case {
    std::vector<std::string> arguments;
    std::string word;  // that the message must have
  };
  const Case kCases[] = {
      {{"profile", "no-such-model"}, "no-such-model"},
      {{"profile", "linear(784,128); rellu"}, "rellu"},
      {{"profile", "linear(784,"}, "character 12: got the end, wanted a value\n  linear(784,\n"},
      {{"profile", "linear(784,128); linear(100,10)"}, "128"},
      {{"profile", "conv2d(3,8,3)", "--input", "1x4x8x8"}, "4"},
      {{"profile", "linear(99999999999,99999999999)"}, "in_features is 99999999999"},
      {{"profile", "mlp", "--batch", "-1"}, "-1"},
      {{"profile", "mlp", "--batch", "0"}, "0"},
      {{"profile", "mlp", "--batch", "100000000"}, "100000000"},
      {{"profile", "mlp", "--threads", "4096"}, "4096"},
  };
  for (const Case& wrong : kCases) {
    EXPECT_EQ(RunClient(wrong.arguments), 2) << wrong.arguments[1] << ": " << err();
    EXPECT_THAT(err(), HasSubstr(wrong.word));
    EXPECT_EQ(out(), "");
  }
  EXPECT_TRUE(daemon().IsRunning());
  EXPECT_EQ(NewestRun(), "");
}

TEST_F(RunTest, AModelOverTheMemoryLimitIsRefused) {
  StartDaemon("memory_limit = \"1MiB\"\n");
  EXPECT_EQ(RunClient({"profile", "resnet18"}), 5);
  EXPECT_THAT(err(), HasSubstr("the 1 MiB that"));
  EXPECT_EQ(NewestRun(), "");
  EXPECT_EQ(RunClient({"profile", "mlp", "--precision", "20%"}), 0) << err();
}

TEST_F(RunTest, AFullQueueIsPrecondition) {
  StartDaemon("queue_limit = 1\n");
  AwaitState(StartRun(true), v1::RUN_STATE_RUNNING);
  const std::string waiting = StartRun(true);
  EXPECT_EQ(RunClient({"profile", "mlp"}), 5);
  EXPECT_THAT(err(), HasSubstr("1 job waits already"));
  EXPECT_EQ(NewestRun(), waiting);
}

TEST_F(RunTest, CancelSaysThatARunHasEnded) {
  StartDaemon();
  ASSERT_EQ(RunClient({"profile", "mlp", "--precision", "20%"}), 0) << err();
  const std::string id = NewestRun();
  EXPECT_EQ(RunClient({"cancel", id}), 5);
  EXPECT_THAT(err(), HasSubstr("run " + id + " has already ended (SUCCEEDED)"));
  const std::string cancelled = StartRun(true);
  EXPECT_EQ(RunClient({"cancel", cancelled}), 0) << err();
  AwaitState(cancelled, v1::RUN_STATE_CANCELLED);
  EXPECT_EQ(RunClient({"cancel", cancelled}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("has already ended (CANCELLED)"));
}

// The database of the fixture holds a roofline of the CPUs that a daemon chooses by itself.
TEST_F(RunTest, ADaemonWithOtherCpusMeasuresItsRooflineAnew) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < 2; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU cannot be two sets of CPUs";
  // A daemon leaves the first one to itself.
  StartDaemon("cpus = \"" + std::to_string(cpus[0]) + "," + std::to_string(cpus[1]) + "\"\n");
  EXPECT_EQ(RunClient({"roofline"}), 5);
  EXPECT_THAT(err(), HasSubstr("`tinyprof-client roofline --measure`"));
  ASSERT_EQ(RunClient({"profile", "mlp", "--threads", "2", "--json", "--precision", "20%"}), 0)
      << err();
  const json document = json::parse(out());
  for (const json& layer : document["layers"]) {
    EXPECT_FALSE(layer["bound"]["limiter"].is_null()) << layer.dump();
  }
  EXPECT_EQ(RunClient({"roofline"}), 0) << err();
}

TEST_F(RunTest, HardwareCountersThatAreRequiredAndMissingArePrecondition) {
  StartDaemon();
  grpc::ClientContext context;
  v1::ListCountersResponse counters;
  ASSERT_TRUE(Host()->ListCounters(&context, {}, &counters).ok());
  if (counters.counters().usable()) GTEST_SKIP() << "this host has hardware counters";
  EXPECT_EQ(RunClient({"profile", "mlp", "--counters", "papi"}), 5);
  EXPECT_THAT(err(), HasSubstr(counters.counters().reason()));
}

TEST_F(RunTest, ASecondClientIsToldThatItWaits) {
  StartDaemon();
  const std::string first = StartRun(true);
  AwaitState(first, v1::RUN_STATE_RUNNING);
  const auto client = StartClient({"profile", "mlp", "--precision", "20%"});
  Await("what it waits for",
        [&] { return client->Err().find("queued: behind run " + first) != std::string::npos; });
  EXPECT_EQ(RunClient({"cancel", first}), 0) << err();
  EXPECT_EQ(client->Wait(kPatience), 0) << client->Err();
  EXPECT_EQ(GetRun(first).state(), v1::RUN_STATE_CANCELLED);
}

TEST_F(RunTest, ManyClientsGetTheirResultsOneByOne) {
  StartDaemon();
  std::vector<std::unique_ptr<Process>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(StartClient({"profile", "mlp", "--json", "--precision", "20%"}));
  }
  std::set<std::string> ids;
  for (const auto& client : clients) {
    ASSERT_EQ(client->Wait(kPatience), 0) << client->Err();
    ids.insert(json::parse(client->Out())["run"]["id"].get<std::string>());
  }
  EXPECT_EQ(ids.size(), clients.size());
}

TEST_F(RunTest, CtrlCCancelsTheRun) {
  StartDaemon();
  const auto client = StartClient({"profile", "resnet18", "--backend", "reference", "--precision",
                                   "0.01%", "--time-budget", "300s"});
  Await("a run", [&] { return !NewestRun().empty(); });
  const std::string id = NewestRun();
  AwaitState(id, v1::RUN_STATE_RUNNING);
  client->Signal(SIGINT);
  EXPECT_EQ(client->Wait(kPatience), 130) << client->Err();
  EXPECT_THAT(client->Err(), HasSubstr("cancelling the run " + id));
  EXPECT_THAT(client->Err(), HasSubstr("the run " + id + " was cancelled\n"));
  AwaitState(id, v1::RUN_STATE_CANCELLED);
}

TEST_F(RunTest, AWorkerThatIsKilledFailsItsRunAlone) {
  StartDaemon();
  const std::string id = StartRun(true);
  AwaitState(id, v1::RUN_STATE_RUNNING);
  const auto watcher = StartClient({"watch", id});
  pid_t worker = 0;
  Await("a worker", [&] {
    worker = ChildNamed(daemon().pid(), "tinyprof-worker");
    return worker != 0;
  });
  kill(worker, SIGKILL);
  EXPECT_EQ(watcher->Wait(kPatience), 1) << watcher->Err();
  AwaitState(id, v1::RUN_STATE_FAILED);
  EXPECT_EQ(GetRun(id).error().reason(), "WORKER_KILLED");
  EXPECT_EQ(RunClient({"profile", "mlp", "--precision", "20%"}), 0) << err();
}

TEST_F(RunTest, ATimeoutCancelsAndSaysSo) {
  StartDaemon();
  EXPECT_EQ(RunClient({"profile", "resnet18", "--backend", "reference", "--precision", "0.01%",
                       "--time-budget", "2s", "--timeout", "3s"}),
            124)
      << err();
}

TEST_F(RunTest, VerifyComparesOutputsWithThoseThatAreGiven) {
  StartDaemon();
  const auto write = [&](const std::string& name, const std::array<float, 3>& elements) {
    const auto* begin = reinterpret_cast<const std::byte*>(elements.data());
    const TensorData tensor{
        .name = name,
        .type = {DType::kFloat32, {1, 3}},
        .bytes = std::make_shared<std::vector<std::byte>>(begin, begin + sizeof(elements))};
    const Status written = WriteTensorFile(dir_.File("case/" + name), tensor);
    ASSERT_TRUE(written.has_value()) << written.error().message;
  };
  std::filesystem::create_directories(dir_.File("case"));
  write("input_0.pb", {-1, 0, 2});
  write("output_0.pb", {0, 0, 2});
  const std::vector<std::string> command = {"verify",          "relu",  "--input", "1x3", "--data",
                                            dir_.File("case"), "--json"};
  EXPECT_EQ(RunClient(command), 0) << err();
  EXPECT_EQ(json::parse(out())["ok"], true);
  write("output_0.pb", {0, 0, 3});
  EXPECT_EQ(RunClient(command), 1) << err();
  EXPECT_EQ(json::parse(out())["outputs"][0]["max_abs_error"], 1);
}

TEST_F(RunTest, ModelsCanBeExportedAndUploadedAgain) {
  StartDaemon();
  const std::string file = dir_.File("mlp.onnx");
  ASSERT_EQ(RunClient({"models", "export", "mlp", file}), 0) << err();
  ASSERT_EQ(RunClient({"profile", file, "--json", "--precision", "20%"}), 0) << err();
  const json result = json::parse(out());
  EXPECT_EQ(result["model"]["source"], "onnx");
  EXPECT_EQ(result["totals"]["mac_count"], 109'184);

  const std::string name = result["model"]["name"];
  ASSERT_EQ(RunClient({"models"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr(name));
  EXPECT_EQ(RunClient({"models", "delete", name}), 0) << err();
  EXPECT_EQ(out(), "model " + name + ": deleted\n");
  EXPECT_EQ(RunClient({"models", "delete", name}), 2) << err();
  EXPECT_EQ(RunClient({"models", "delete", "mlp"}), 4) << err();
}

TEST_F(RunTest, ATimeoutAloneLeavesTheBudgetToFitIt) {
  StartDaemon();
  EXPECT_EQ(RunClient({"profile", "mlp", "--precision", "20%", "--timeout", "8s"}), 0) << err();
  EXPECT_EQ(RunClient({"memory", "mlp", "--timeout", "8s", "--json"}), 0) << err();
  EXPECT_THAT(json::parse(out())["totals"]["counters"]["flops"]["reason"].get<std::string>(),
              testing::StartsWith("NOT_ASKED: this run was to count nothing"));
  EXPECT_EQ(json::parse(out())["totals"]["counters"]["instructions"]["unit"],
            json::parse(out())["totals"]["executed"]["instructions"]["unit"]);
}

// The MLP has 109,184 weights and 202 biases: 437,544 bytes, of which the weights become a quarter.
TEST_F(RunTest, AQuantizedModelRunsAndSaysWhatItWas) {
  StartDaemon();
  const std::string file = dir_.File("mlp-int8.onnx");
  for (const char* mode : {"static", "dynamic"}) {
    SCOPED_TRACE(mode);
    ASSERT_EQ(RunClient({"quantize", "mlp", file, "--mode", mode, "--json"}), 0) << err();
    const json made = json::parse(out());
    EXPECT_EQ(made["quantization"]["float_weight_bytes"], 437'544);
    EXPECT_GT(made["quantization"]["quantized_weight_bytes"], 109'184 + 4 * 202);
    EXPECT_LT(made["quantization"]["quantized_weight_bytes"], 437'544 / 3);
    EXPECT_EQ(made["operators"][0]["op"], "Gemm");
    EXPECT_EQ(made["operators"][0]["quantized_count"], 3);
    EXPECT_GT(made["outputs"][0]["sqnr_db"], 20);
    EXPECT_EQ(made["size_bytes"], std::filesystem::file_size(file));

    ASSERT_EQ(RunClient({"profile", file, "--json", "--precision", "20%"}), 0) << err();
    const json run = json::parse(out());
    EXPECT_EQ(run["model"]["quantization"]["quantized_from"], "mlp");
    EXPECT_EQ(run["model"]["quantization"]["mode"], mode);
    EXPECT_EQ(run["model"]["quantization"]["sqnr_db"], made["outputs"][0]["sqnr_db"]);
    EXPECT_EQ(run["totals"]["unique_parameter_count"], 109'386);
    EXPECT_EQ(run["totals"]["int_op_count"], 2 * 109'184);
    ASSERT_EQ(RunClient({"analyze", file}), 0) << err();
    EXPECT_THAT(out(), HasSubstr("int8 of mlp (" + std::string(mode) + "), SQNR"));
  }
  ASSERT_EQ(RunClient({"models", "--json"}), 0) << err();
  EXPECT_EQ(json::parse(out())["models"].back()["quantization"]["quantized_from"], "mlp");
  EXPECT_EQ(RunClient({"quantize", file, dir_.File("again.onnx")}), 5);
  EXPECT_THAT(err(), HasSubstr("is quantized already, from mlp"));
  EXPECT_EQ(RunClient({"quantize", "relu", "--input", "1x4", dir_.File("none.onnx")}), 5);
  EXPECT_THAT(err(), HasSubstr("nothing that can be quantized"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("none.onnx")));
}

}  // namespace
}  // namespace tinyprof::e2e
