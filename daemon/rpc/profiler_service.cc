#include "daemon/rpc/profiler_service.h"

#include <chrono>
#include <utility>

#include "daemon/jobs/run_spec_check.h"
#include "daemon/rpc/chunk_writer.h"
#include "daemon/rpc/verify_stream.h"

namespace tinyprof {
namespace {

// How soon a watcher that left is noticed.
constexpr std::chrono::milliseconds kWatchStep{200};

tl::unexpected<Error> CallerLeft() {
  return Fail(ErrorCode::kCancelled, "CANCELLED", "the caller left");
}

// Moves a value into a field of the response, or passes its error on.
template <class T, class Field>
Status Put(Result<T>&& result, Field* field) {
  TINYPROF_RETURN_IF_ERROR(result);
  *field = *std::move(result);
  return {};
}

}  // namespace

Result<v1::ModelAnalysis> ProfilerService::Analyze(const v1::ModelSpec& spec) {
  TINYPROF_ASSIGN_OR_RETURN(const v1::ModelSpec checked, CheckModelSpec(spec));
  const std::lock_guard lock(analysis_mutex_);
  return models_.Analyze(checked);
}

grpc::Status ProfilerService::AnalyzeModel(grpc::ServerContext*,
                                           const v1::AnalyzeModelRequest* request,
                                           v1::AnalyzeModelResponse* response) {
  return border_.Enter(
      "AnalyzeModel", [&] { return Put(Analyze(request->model()), response->mutable_analysis()); });
}

grpc::Status ProfilerService::StartRun(grpc::ServerContext* context,
                                       const v1::StartRunRequest* request,
                                       v1::StartRunResponse* response) {
  const auto start = [&]() -> Status {
    if (request->spec().counters() == v1::COUNTER_MODE_PAPI) {
      TINYPROF_ASSIGN_OR_RETURN(const worker::CountersResult counters,
                                counters_.Get([&] { return context->IsCancelled(); }));
      TINYPROF_RETURN_IF_ERROR(RequireHardwareCounters(counters));
    }
    return Put(queue_.Start(request->spec(), request->request_id()), response->mutable_run());
  };
  // Only a probe of the counters makes it wait.
  return request->spec().counters() == v1::COUNTER_MODE_PAPI
             ? border_.EnterWaiting("StartRun", start)
             : border_.Enter("StartRun", start);
}

grpc::Status ProfilerService::WatchRun(grpc::ServerContext* context,
                                       const v1::WatchRunRequest* request,
                                       grpc::ServerWriter<v1::WatchRunResponse>* writer) {
  return border_.EnterWaiting("WatchRun", [&]() -> Status {
    for (uint64_t version = 0; !context->IsCancelled();) {
      const auto deadline = std::chrono::steady_clock::now() + kWatchStep;
      TINYPROF_ASSIGN_OR_RETURN(RunSnapshot snapshot,
                                queue_.Watch(request->id(), version, deadline));
      if (snapshot.version == version && !snapshot.ended) continue;
      version = snapshot.version;
      v1::WatchRunResponse message;
      *message.mutable_run() = std::move(snapshot.run);
      if (!writer->Write(message)) return CallerLeft();
      if (snapshot.ended) return {};
    }
    return CallerLeft();
  });
}

grpc::Status ProfilerService::GetRun(grpc::ServerContext*, const v1::GetRunRequest* request,
                                     v1::GetRunResponse* response) {
  return border_.Enter("GetRun",
                       [&] { return Put(queue_.Get(request->id()), response->mutable_run()); });
}

grpc::Status ProfilerService::ListRuns(grpc::ServerContext*, const v1::ListRunsRequest* request,
                                       v1::ListRunsResponse* response) {
  return border_.Enter("ListRuns", [&]() -> Status {
    TINYPROF_ASSIGN_OR_RETURN(RunPage page,
                              queue_.List(request->page_size(), request->page_token()));
    for (v1::Run& run : page.runs) *response->add_runs() = std::move(run);
    response->set_next_page_token(page.next_page_token);
    return {};
  });
}

grpc::Status ProfilerService::CancelRun(grpc::ServerContext*, const v1::CancelRunRequest* request,
                                        v1::CancelRunResponse* response) {
  return border_.Enter("CancelRun", [&]() -> Status {
    TINYPROF_ASSIGN_OR_RETURN(CancelOutcome outcome, queue_.Cancel(request->id()));
    *response->mutable_run() = std::move(outcome.run);
    response->set_already_ended(outcome.already_ended);
    return {};
  });
}

grpc::Status ProfilerService::DeleteRun(grpc::ServerContext*, const v1::DeleteRunRequest* request,
                                        v1::DeleteRunResponse*) {
  return border_.Enter("DeleteRun", [&] { return queue_.Delete(request->id()); });
}

grpc::Status ProfilerService::VerifyModel(grpc::ServerContext* context,
                                          grpc::ServerReader<v1::VerifyModelRequest>* reader,
                                          v1::VerifyModelResponse* response) {
  return border_.EnterWaiting("VerifyModel", [&]() -> Status {
    VerifyStream stream;
    for (v1::VerifyModelRequest message; reader->Read(&message);) {
      TINYPROF_RETURN_IF_ERROR(stream.Add(std::move(message)));
    }
    if (context->IsCancelled()) return CallerLeft();
    TINYPROF_ASSIGN_OR_RETURN(const worker::VerifyTask task, stream.Finish());
    return Put(queue_.Verify(task, [&] { return context->IsCancelled(); }), response);
  });
}

grpc::Status ProfilerService::QuantizeModel(grpc::ServerContext* context,
                                            const v1::QuantizeModelRequest* request,
                                            grpc::ServerWriter<v1::QuantizeModelResponse>* writer) {
  return border_.EnterWaiting("QuantizeModel", [&]() -> Status {
    v1::QuantizeModelResponse message;
    // That a caller has left, `abandoned` finds out.
    const auto on_progress = [&](const v1::QuantizationProgress& progress) {
      *message.mutable_progress() = progress;
      writer->Write(message);
    };
    TINYPROF_ASSIGN_OR_RETURN(QuantizedFile quantized,
                              queue_.Quantize(
                                  *request, [&] { return context->IsCancelled(); }, on_progress));
    *message.mutable_report() = std::move(quantized.report);
    if (!writer->Write(message)) return CallerLeft();
    ChunkWriter chunks([&](std::string&& chunk) {
      message.set_chunk(std::move(chunk));
      return writer->Write(message);
    });
    TINYPROF_RETURN_IF_ERROR(chunks.AppendFile(quantized.file.get()));
    return chunks.Flush();
  });
}

}  // namespace tinyprof
