#include "tests/unit/client/fake_daemon.h"

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpc/grpc.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <thread>

#include "kernels/base/check.h"
#include "tests/unit/client/fixture.h"

namespace tinyprof::client {
namespace {

void HoldWhile(const std::atomic<bool>& hold, const grpc::ServerContext& context) {
  while (hold && !context.IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace

grpc::Status Refusal(grpc::StatusCode code, const std::string& reason, const std::string& message) {
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("tinyprof");
  (*info.mutable_metadata())["key"] = "value";
  google::rpc::Status details;
  details.set_code(code);
  details.set_message(message);
  details.add_details()->PackFrom(info);
  return {code, message, details.SerializeAsString()};
}

grpc::Status FakeProfiler::AnalyzeModel(grpc::ServerContext*, const v1::AnalyzeModelRequest*,
                                        v1::AnalyzeModelResponse* response) {
  if (unavailable_calls.fetch_sub(1) > 0) {
    return Refusal(grpc::StatusCode::UNAVAILABLE, "DRAINING", "tinyprofd is shutting down");
  }
  *response->mutable_analysis() = Analysis();
  return analyze_status;
}

grpc::Status FakeProfiler::StartRun(grpc::ServerContext*, const v1::StartRunRequest* request,
                                    v1::StartRunResponse* response) {
  start_request = *request;
  *response->mutable_run() = RunInState(v1::RUN_STATE_QUEUED);
  return start_status;
}

grpc::Status FakeProfiler::WatchRun(grpc::ServerContext* context, const v1::WatchRunRequest*,
                                    grpc::ServerWriter<v1::WatchRunResponse>* writer) {
  ++watch_calls;
  v1::WatchRunResponse response;
  for (const v1::Run& state : states) {
    *response.mutable_run() = state;
    writer->Write(response);
    // A client that is behind shows the newest state only: give it time to see each.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::unique_lock lock(mutex_);
  while (hold && !cancelled_ && !context->IsCancelled()) {
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
  if (cancelled_) {
    *response.mutable_run() = RunInState(v1::RUN_STATE_CANCELLED);
    writer->Write(response);
  }
  return grpc::Status::OK;
}

grpc::Status FakeProfiler::GetRun(grpc::ServerContext*, const v1::GetRunRequest* request,
                                  v1::GetRunResponse* response) {
  if (const auto run = runs.find(request->id()); run != runs.end()) {
    *response->mutable_run() = run->second;
    return grpc::Status::OK;
  }
  if (request->id() != "r-1") {
    return Refusal(grpc::StatusCode::NOT_FOUND, "RUN_UNKNOWN", "there is no run " + request->id());
  }
  *response->mutable_run() = SucceededRun();
  return grpc::Status::OK;
}

v1::CancelRunResponse FakeProfiler::RunningStill() {
  v1::CancelRunResponse response;
  *response.mutable_run() = RunInState(v1::RUN_STATE_RUNNING);
  return response;
}

grpc::Status FakeProfiler::CancelRun(grpc::ServerContext*, const v1::CancelRunRequest*,
                                     v1::CancelRunResponse* response) {
  ++cancel_calls;
  *response = cancel_response;
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
  return grpc::Status::OK;
}

grpc::Status FakeProfiler::VerifyModel(grpc::ServerContext*,
                                       grpc::ServerReader<v1::VerifyModelRequest>* reader,
                                       v1::VerifyModelResponse* response) {
  v1::VerifyModelRequest request;
  while (reader->Read(&request)) verify_requests.push_back(request);
  v1::VerifiedOutput& output = *response->add_outputs();
  output.set_name("y");
  output.set_max_abs_error(0.5);
  response->set_ok(false);
  return grpc::Status::OK;
}

grpc::Status FakeProfiler::QuantizeModel(grpc::ServerContext*,
                                         const v1::QuantizeModelRequest* request,
                                         grpc::ServerWriter<v1::QuantizeModelResponse>* writer) {
  quantize_request = *request;
  if (!quantize_status.ok()) return quantize_status;
  v1::QuantizeModelResponse response;
  for (const v1::QuantizationProgress& progress : quantize_progress) {
    *response.mutable_progress() = progress;
    writer->Write(response);
  }
  *response.mutable_report() = quantization_report;
  writer->Write(response);
  for (const char* chunk : {"bytes ", "of a file"}) {
    response.set_chunk(chunk);
    writer->Write(response);
  }
  return grpc::Status::OK;
}

grpc::Status FakeModels::GetModel(grpc::ServerContext*, const v1::GetModelRequest* request,
                                  v1::GetModelResponse* response) {
  if (known_sha256.empty()) {
    return Refusal(grpc::StatusCode::NOT_FOUND, "MODEL_UNKNOWN", "there is no such model");
  }
  response->mutable_model()->set_name(request->name());
  response->mutable_model()->set_sha256(known_sha256);
  return grpc::Status::OK;
}

grpc::Status FakeModels::UploadModel(grpc::ServerContext* context,
                                     grpc::ServerReader<v1::UploadModelRequest>* reader,
                                     v1::UploadModelResponse* response) {
  v1::UploadModelRequest request;
  while (reader->Read(&request)) {
    if (request.has_name()) uploaded_name = request.name();
    uploaded_bytes += request.chunk();
  }
  HoldWhile(hold, *context);
  response->mutable_model()->set_name(uploaded_name);
  return grpc::Status::OK;
}

grpc::Status FakeModels::ListModels(grpc::ServerContext*, const v1::ListModelsRequest* request,
                                    v1::ListModelsResponse* response) {
  const bool first_page = request->page_token().empty();
  v1::Model& model = *response->add_models();
  model.set_name(first_page ? "mlp" : "mine");
  model.set_source(first_page ? "zoo" : "onnx");
  if (first_page) response->set_next_page_token("2");
  return grpc::Status::OK;
}

grpc::Status FakeModels::DeleteModel(grpc::ServerContext*, const v1::DeleteModelRequest* request,
                                     v1::DeleteModelResponse*) {
  deleted_name = request->name();
  return delete_status;
}

grpc::Status FakeModels::ExportModel(grpc::ServerContext* context,
                                     const v1::ExportModelRequest* request,
                                     grpc::ServerWriter<v1::ExportModelResponse>* writer) {
  v1::ExportModelResponse response;
  response.set_chunk("first ");
  writer->Write(response);
  ++export_calls;
  HoldWhile(hold, *context);
  if (request->model().text() == "broken") {
    return Refusal(grpc::StatusCode::INVALID_ARGUMENT, "NO_EXPORT", "broken cannot be exported");
  }
  response.set_chunk("second");
  writer->Write(response);
  return grpc::Status::OK;
}

grpc::Status FakeHosts::GetHost(grpc::ServerContext*, const v1::GetHostRequest*,
                                v1::GetHostResponse* response) {
  response->mutable_host()->set_cpu("Test CPU");
  response->mutable_host()->set_daemon_version("9.9.9");
  return grpc::Status::OK;
}

FakeDaemon::FakeDaemon() {
  // Keeps the library up between tests: taking it down sometimes waits 10 s for its own threads.
  static const bool library_stays_up = (grpc_init(), true);
  TINYPROF_CHECK(library_stays_up);
  std::string pattern = (std::filesystem::temp_directory_path() / "tinyprof-fake-XXXXXX").string();
  directory_ = mkdtemp(pattern.data());
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
  builder.RegisterService(&profiler);
  builder.RegisterService(&models);
  builder.RegisterService(&hosts);
  server_ = builder.BuildAndStart();
  TINYPROF_CHECK(server_ != nullptr);
  SetServing(true);
}

FakeDaemon::~FakeDaemon() {
  Kill();
  std::filesystem::remove_all(directory_);
}

void FakeDaemon::Kill() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
}

void FakeDaemon::SetServing(bool serving) {
  server_->GetHealthCheckService()->SetServingStatus("tinyprof.v1.ProfilerService", serving);
}

}  // namespace tinyprof::client
