// The real tinyprof-worker, run by the real WorkerProcess.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/worker/unique_fd.h"
#include "daemon/worker/worker_process.h"
#include "kernels/runtime/team.h"
#include "onnx/onnx.pb.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

class WorkerProgramTest : public ::testing::Test {
 protected:
  static worker::WorkerRequest Request() {
    worker::WorkerRequest request;
    request.add_cpus(UsableCores().front());
    request.set_memory_limit_bytes(int64_t{1} << 30);
    return request;
  }

  static worker::WorkerRequest ProfileRequest(const std::string& model) {
    worker::WorkerRequest request = Request();
    v1::RunSpec& spec = *request.mutable_profile();
    spec.mutable_model()->set_text(model);
    spec.mutable_model()->set_batch(1);
    spec.set_isa("baseline");
    spec.set_threads(1);
    spec.set_precision(0.05);
    spec.mutable_time_budget()->set_nanos(200'000'000);
    return request;
  }

  Result<worker::WorkerEvent> Run(const worker::WorkerRequest& request, int model_fd = -1,
                                  int output_fd = -1) {
    WorkerProcess process({.worker_path = TINYPROF_WORKER_PATH});
    return process.Run({.request = request,
                        .model_fd = model_fd,
                        .output_fd = output_fd,
                        .deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2)},
                       {}, {});
  }
};

TEST_F(WorkerProgramTest, ProfilesAModel) {
  worker::WorkerRequest request = ProfileRequest("linear(784,128); relu; linear(128,10)");
  v1::InputShape& input = *request.mutable_profile()->mutable_model()->add_inputs();
  input.add_dims(1);
  input.add_dims(784);
  const auto event = Run(request);
  ASSERT_TRUE(event.has_value()) << event.error().message;
  const v1::RunReport& report = event->report();
  EXPECT_EQ(report.analysis().unique_parameter_count(), 784 * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(report.analysis().totals().mac_count(), 784 * 128 + 128 * 10);
  ASSERT_EQ(report.layers_size(), 3);
  EXPECT_EQ(report.analysis().layers_size(), 0) << "they are in `layers`";
  EXPECT_GT(report.time().median_ns(), 0);
  EXPECT_GE(report.passes().timing(), 3);
  // The invariant of the contract: layers and the rest add up to the whole pass.
  double sum_ns = report.overhead().unattributed_ns();
  for (const v1::LayerReport& layer : report.layers()) sum_ns += layer.time().median_ns();
  EXPECT_NEAR(sum_ns, report.time().median_ns(), 1e-6 * sum_ns);
  EXPECT_GT(report.overhead().dispatch_ns(), 0);
  EXPECT_FALSE(report.overhead().has_team_dispatch_ns()) << "one thread";
  for (const v1::LayerReport& layer : report.layers()) {
    const v1::Quantity& flops = layer.counters().flops();
    EXPECT_TRUE(flops.has_value() || !flops.reason().empty());
  }
}

TEST_F(WorkerProgramTest, ARunTakesTheCountersThatTheDaemonKnows) {
  worker::WorkerRequest counters = Request();
  counters.mutable_counters();
  auto found = Run(counters);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  v1::CounterReport& known = *found->mutable_counters()->mutable_counters();
  EXPECT_EQ(known.pmu(), found->counters().pmu());
  worker::WorkerRequest request = ProfileRequest("mlp");
  *request.mutable_known_counters() = known;
  const auto event = Run(request);
  ASSERT_TRUE(event.has_value()) << event.error().message;
  ASSERT_TRUE(event->report().has_trust());
  EXPECT_EQ(event->report().trust().SerializeAsString(), known.trust().SerializeAsString());
  request.mutable_profile()->set_counters(v1::COUNTER_MODE_NONE);
  const auto uncounted = Run(request);
  ASSERT_TRUE(uncounted.has_value()) << uncounted.error().message;
  EXPECT_FALSE(uncounted->report().has_trust());
}

TEST_F(WorkerProgramTest, UnknownModelIsTheUsersError) {
  const auto event = Run(ProfileRequest("no-such-model"));
  ASSERT_FALSE(event.has_value());
  EXPECT_EQ(event.error().code, ErrorCode::kNotFound);
}

TEST_F(WorkerProgramTest, ModelOverTheMemoryLimitIsRefused) {
  worker::WorkerRequest request = ProfileRequest("linear(1024,1024)");
  v1::InputShape& input = *request.mutable_profile()->mutable_model()->add_inputs();
  input.add_dims(1);
  input.add_dims(1024);
  request.set_memory_limit_bytes(1 << 20);
  EXPECT_EQ(Run(request).error().reason, "MODEL_TOO_LARGE");
}

TEST_F(WorkerProgramTest, CpuThatDoesNotExistIsRefused) {
  worker::WorkerRequest request = ProfileRequest("relu");
  request.set_cpus(0, 100'000);
  EXPECT_EQ(Run(request).error().reason, "CPU_NOT_ALLOWED");
}

TEST_F(WorkerProgramTest, RequestWithoutTaskBreaksTheProtocol) {
  EXPECT_EQ(Run(Request()).error().reason, "WORKER_PROTOCOL");
}

TEST_F(WorkerProgramTest, CountersTaskNamesEveryMetricWithItsReason) {
  worker::WorkerRequest request = Request();
  request.mutable_counters();
  const auto event = Run(request);
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_GT(event->counters().counters().metrics_size(), 0);
  for (const v1::CounterMetric& metric : event->counters().counters().metrics()) {
    EXPECT_TRUE(metric.usable() || !metric.reason().empty()) << metric.metric();
  }
}

TEST_F(WorkerProgramTest, DiagnosisTaskTellsTheMachineAsItIs) {
  worker::WorkerRequest request = Request();
  request.clear_cpus();
  request.mutable_diagnosis()->add_measurement_cpus(0);
  const auto event = Run(request);
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_GT(event->diagnosis().checks_size(), 10);
}

TEST_F(WorkerProgramTest, ARunMayBeToldToOpenNoEvent) {
  worker::WorkerRequest request = ProfileRequest("mlp");
  request.mutable_events_off()->set_reason("SECCOMP");
  request.mutable_events_off()->set_sentence("a filter ends who tries");
  const auto event = Run(request);
  ASSERT_TRUE(event.has_value()) << event.error().message;
  const v1::RunReport& report = event->report();
  EXPECT_GT(report.time().median_ns(), 0);
  ASSERT_GT(report.layers_size(), 0);
  const std::string why = "SECCOMP: a filter ends who tries";
  EXPECT_EQ(report.layers(0).counters().flops().reason(), why);
  EXPECT_EQ(report.counters().instructions().reason(), why);
}

// Takes about four seconds: the roofline is measured in earnest.
TEST_F(WorkerProgramTest, RooflineTaskFindsCeilingsInTheSandbox) {
  worker::WorkerRequest request = Request();
  request.mutable_roofline()->set_max_threads(1);
  const auto event = Run(request);
  ASSERT_TRUE(event.has_value()) << event.error().message;
  const v1::Roofline& roofline = event->roofline();
  EXPECT_GT(roofline.isa_size(), 0);
  for (const v1::PeakCeiling& peak : roofline.isa()) {
    EXPECT_GT(peak.peak_flops_per_second(), 0) << peak.name();
  }
  EXPECT_GT(roofline.bandwidth_size(), 0);
  EXPECT_GT(roofline.clock_hz(), 0);
  EXPECT_NE(roofline.host().fingerprint(), "");
}

std::string FloatTensor(const std::vector<int64_t>& dims, const std::vector<float>& elements) {
  onnx::TensorProto tensor;
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.mutable_float_data()->Assign(elements.begin(), elements.end());
  return tensor.SerializeAsString();
}

worker::WorkerRequest VerifyRelu(worker::WorkerRequest request, std::vector<float> outputs) {
  worker::VerifyTask& task = *request.mutable_verify();
  task.mutable_spec()->mutable_model()->set_text("relu");
  v1::InputShape& input = *task.mutable_spec()->mutable_model()->add_inputs();
  input.add_dims(1);
  input.add_dims(4);
  task.mutable_spec()->set_isa("baseline");
  task.add_inputs(FloatTensor({1, 4}, {-1, 2, -3, 4}));
  task.add_outputs(FloatTensor({1, 4}, outputs));
  return request;
}

TEST_F(WorkerProgramTest, VerifyComparesOutputs) {
  const auto right = Run(VerifyRelu(Request(), {0, 2, 0, 4}));
  ASSERT_TRUE(right.has_value()) << right.error().message;
  EXPECT_TRUE(right->verified().ok());
  const auto wrong = Run(VerifyRelu(Request(), {0, 2, 0, 5}));
  ASSERT_TRUE(wrong.has_value()) << wrong.error().message;
  EXPECT_FALSE(wrong->verified().ok());
  EXPECT_EQ(wrong->verified().outputs(0).max_abs_error(), 1);
}

// 4.001 is within the default of 1e-3, and equal to 4 by no tolerance of 0.
TEST_F(WorkerProgramTest, VerifyTakesAToleranceOfZeroAsItIs) {
  worker::WorkerRequest request = VerifyRelu(Request(), {0, 2, 0, 4.001F});
  EXPECT_TRUE(Run(request)->verified().ok());
  request.mutable_verify()->mutable_spec()->set_rtol(0);
  request.mutable_verify()->mutable_spec()->set_atol(0);
  const auto exact = Run(request);
  EXPECT_FALSE(exact->verified().ok());
  EXPECT_EQ(exact->verified().rtol(), 0);
  EXPECT_EQ(exact->verified().atol(), 0);
}

// A file in memory, open for reading.
UniqueFd FileOf(const std::string& bytes) {
  UniqueFd file(::memfd_create("model", MFD_CLOEXEC));
  EXPECT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return file;
}

worker::WorkerRequest AnalyzeRequest(int64_t memory_limit_bytes) {
  worker::WorkerRequest request;
  request.set_memory_limit_bytes(memory_limit_bytes);
  request.set_has_model_file(true);
  request.mutable_analyze();
  return request;
}

TEST_F(WorkerProgramTest, AnalyzeCountsAnUploadedFile) {
  ModelMaker maker;
  maker.Input("x", {"N", "3"}).Floats("w", {3, 5}, std::vector<float>(15, 1)).Output("y");
  maker.Node("MatMul", {"x", "w"}, {"y"});
  const UniqueFd file = FileOf(maker.Bytes());
  worker::WorkerRequest request = AnalyzeRequest(1 << 20);
  ASSERT_TRUE(Run(request, file.get()).has_value()) << "checked without a batch";
  request.mutable_analyze()->mutable_model()->set_text("mine");
  request.mutable_analyze()->mutable_model()->set_batch(2);
  const auto event = Run(request, file.get());
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->analysis().parameter_count(), 15);
  EXPECT_EQ(event->analysis().totals().mac_count(), 2 * 3 * 5);
}

TEST_F(WorkerProgramTest, AnalyzeRefusesADamagedFile) {
  const UniqueFd file = FileOf("this is no ONNX");
  EXPECT_EQ(Run(AnalyzeRequest(1 << 20), file.get()).error().reason, "BAD_ONNX");
}

std::string IntTensor(const std::string& name, const std::vector<int64_t>& elements) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.add_dims(static_cast<int64_t>(elements.size()));
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.mutable_int64_data()->Assign(elements.begin(), elements.end());
  return tensor.SerializeAsString();
}

// A Reshape to a shape that is itself an input, which only the data of the test tell.
TEST_F(WorkerProgramTest, VerifyFixesInputsThatShapesDependOn) {
  ModelMaker maker;
  maker.Input("x", {"2", "3"}).Input("shape", {"2"}, DType::kInt64).Output("y");
  maker.Node("Reshape", {"x", "shape"}, {"y"});
  const UniqueFd file = FileOf(maker.Bytes());
  worker::WorkerRequest request = Request();
  request.set_has_model_file(true);
  worker::VerifyTask& task = *request.mutable_verify();
  task.mutable_spec()->mutable_model()->set_text("mine");
  task.mutable_spec()->set_isa("baseline");
  task.add_inputs(FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  task.add_inputs(IntTensor("shape", {3, 2}));
  task.add_outputs(FloatTensor({3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto event = Run(request, file.get());
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_TRUE(event->verified().ok());
  task.set_outputs(0, FloatTensor({3, 2}, {1, 2, 3, 4, 5, 7}));
  EXPECT_FALSE(Run(request, file.get())->verified().ok());
}

TEST_F(WorkerProgramTest, VerifyRefusesTensorsThatDoNotFit) {
  worker::WorkerRequest request = VerifyRelu(Request(), {0, 2, 0, 4});
  request.mutable_verify()->set_inputs(0, FloatTensor({2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(Run(request).error().reason, "BAD_INPUT");
  request.mutable_verify()->set_inputs(0, "no tensor");
  EXPECT_FALSE(Run(request).has_value());
  request.mutable_verify()->clear_inputs();
  EXPECT_EQ(Run(request).error().reason, "BAD_INPUT");
}

worker::WorkerRequest QuantizeRequest(worker::WorkerRequest request, const std::string& model) {
  v1::QuantizeModelRequest& task = *request.mutable_quantize();
  task.mutable_model()->set_text(model);
  task.mutable_model()->set_batch(1);
  task.set_samples(2);
  return request;
}

// Built-in and uploaded: with and without a model at its descriptor.
TEST_F(WorkerProgramTest, QuantizeWritesAFileOfOnnx) {
  ModelMaker maker;
  maker.Input("x", {"1", "3"}).Floats("w", {3, 5}, std::vector<float>(15, 1)).Output("y");
  maker.Node("MatMul", {"x", "w"}, {"y"});
  const UniqueFd model = FileOf(maker.Bytes());
  for (const bool is_file : {false, true}) {
    const UniqueFd file(::memfd_create("output", MFD_CLOEXEC));
    worker::WorkerRequest request = QuantizeRequest(Request(), is_file ? "mine" : "mlp");
    request.set_has_model_file(is_file);
    const auto event = Run(request, is_file ? model.get() : -1, file.get());
    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->quantized().operators(0).quantized_count(), is_file ? 1 : 3);
    EXPECT_EQ(event->quantized().sample_count(), 2);
    const Result<Graph> graph = ImportOnnxFd(file.get(), {});
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    EXPECT_EQ(graph->quantized->from, is_file ? "mine" : "mlp");
  }
}

TEST_F(WorkerProgramTest, QuantizeSaysThatItsFileIsFull) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(Run(QuantizeRequest(Request(), "mlp"), -1, full.get()).error().reason,
            "RESULT_NOT_KEPT");
}

TEST_F(WorkerProgramTest, QuantizeRefusesAnOldFileBeforeItRunsIt) {
  ModelMaker maker(6);
  maker.Input("x", {"1", "3"}).Floats("w", {3, 5}, std::vector<float>(15, 1)).Output("y");
  maker.Node("MatMul", {"x", "w"}, {"y"});
  const UniqueFd model = FileOf(maker.Bytes());
  const UniqueFd file(::memfd_create("output", MFD_CLOEXEC));
  worker::WorkerRequest request = QuantizeRequest(Request(), "mine");
  request.set_has_model_file(true);
  EXPECT_EQ(Run(request, model.get(), file.get()).error().reason, "OPSET_NOT_SUPPORTED");
}

}  // namespace
}  // namespace tinyprof
