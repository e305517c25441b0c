#include "daemon/rpc/model_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/convert/model_spec.h"
#include "daemon/jobs/run_spec_check.h"
#include "daemon/model/onnx_export.h"
#include "daemon/rpc/chunk_writer.h"
#include "kernels/zoo/zoo.h"

namespace tinyprof {
namespace {

constexpr int kDefaultPageSize = 100;
constexpr int kMaxPageSize = 1000;

tl::unexpected<Error> BadStream(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_STREAM", std::move(message));
}

Result<size_t> PageSizeOf(int32_t asked) {
  if (asked >= 0 && asked <= kMaxPageSize) {
    return static_cast<size_t>(asked == 0 ? kDefaultPageSize : asked);
  }
  return Fail(ErrorCode::kInvalidArgument, "BAD_PAGE_SIZE",
              fmt::format("got a page size of {}, wanted 1 to {}", asked, kMaxPageSize),
              {{"page_size", std::to_string(asked)}});
}

}  // namespace

grpc::Status ModelService::UploadModel(grpc::ServerContext* context,
                                       grpc::ServerReader<v1::UploadModelRequest>* reader,
                                       v1::UploadModelResponse* response) {
  return border_.EnterWaiting("UploadModel", [&] { return Receive(*context, *reader, *response); });
}

Status ModelService::Receive(grpc::ServerContext& context,
                             grpc::ServerReader<v1::UploadModelRequest>& reader,
                             v1::UploadModelResponse& response) {
  v1::UploadModelRequest message;
  if (!reader.Read(&message) ||
      message.content_case() != v1::UploadModelRequest::ContentCase::kName) {
    return BadStream("the first message must hold the model's name");
  }
  TINYPROF_ASSIGN_OR_RETURN(ModelUpload upload, store_.Begin(message.name()));
  while (reader.Read(&message)) {
    if (message.content_case() != v1::UploadModelRequest::ContentCase::kChunk) {
      return BadStream("the messages after the name must hold pieces of the file");
    }
    TINYPROF_RETURN_IF_ERROR(upload.Append(message.chunk()));
  }
  // A stream that broke off looks like one that ended.
  if (context.IsCancelled()) return Fail(ErrorCode::kCancelled, "CANCELLED", "the caller left");
  TINYPROF_ASSIGN_OR_RETURN(const StoredModel stored, upload.Commit());
  TINYPROF_ASSIGN_OR_RETURN(*response.mutable_model(), catalog_.Describe(stored.name));
  return {};
}

grpc::Status ModelService::ListModels(grpc::ServerContext*, const v1::ListModelsRequest* request,
                                      v1::ListModelsResponse* response) {
  return border_.Enter("ListModels", [&] { return List(*request, *response); });
}

Status ModelService::List(const v1::ListModelsRequest& request, v1::ListModelsResponse& response) {
  TINYPROF_ASSIGN_OR_RETURN(const size_t page_size, PageSizeOf(request.page_size()));
  const std::vector<std::string> names = catalog_.Names();
  // A page's token is the name that it begins with.
  auto next = names.begin();
  if (!request.page_token().empty()) {
    next = std::find(names.begin(), names.end(), request.page_token());
    if (next == names.end()) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_PAGE_TOKEN",
                  "the page token names no model; list again from the first page");
    }
  }
  for (; next != names.end(); ++next) {
    if (static_cast<size_t>(response.models_size()) == page_size) {
      response.set_next_page_token(*next);
      return {};
    }
    // One that was deleted in between is left out.
    if (auto model = catalog_.Describe(*next)) *response.add_models() = *std::move(model);
  }
  return {};
}

grpc::Status ModelService::GetModel(grpc::ServerContext*, const v1::GetModelRequest* request,
                                    v1::GetModelResponse* response) {
  return border_.Enter("GetModel", [&]() -> Status {
    TINYPROF_ASSIGN_OR_RETURN(*response->mutable_model(), catalog_.Describe(request->name()));
    return {};
  });
}

grpc::Status ModelService::DeleteModel(grpc::ServerContext*, const v1::DeleteModelRequest* request,
                                       v1::DeleteModelResponse*) {
  return border_.Enter("DeleteModel", [&]() -> Status {
    if (FindZooEntry(request->name()) == nullptr) return store_.Delete(request->name());
    return Fail(ErrorCode::kPermissionDenied, "BUILT_IN_MODEL",
                fmt::format("{} is built in; only uploaded models can be deleted", request->name()),
                {{"name", request->name()}});
  });
}

grpc::Status ModelService::ExportModel(grpc::ServerContext*, const v1::ExportModelRequest* request,
                                       grpc::ServerWriter<v1::ExportModelResponse>* writer) {
  return border_.EnterWaiting("ExportModel", [&] { return Send(request->model(), *writer); });
}

Status ModelService::Send(const v1::ModelSpec& asked,
                          grpc::ServerWriter<v1::ExportModelResponse>& writer) {
  TINYPROF_ASSIGN_OR_RETURN(const v1::ModelSpec spec, CheckModelSpec(asked));
  TINYPROF_ASSIGN_OR_RETURN(const std::optional<UniqueFd> file, models_.OpenFile(spec));
  ChunkWriter chunks([&](std::string&& chunk) {
    v1::ExportModelResponse message;
    message.set_chunk(std::move(chunk));
    return writer.Write(message);
  });
  if (file) {
    TINYPROF_RETURN_IF_ERROR(chunks.AppendFile(file->get()));
  } else {
    TINYPROF_ASSIGN_OR_RETURN(const Graph graph, BuildGraph(spec, -1));
    TINYPROF_RETURN_IF_ERROR(
        ExportOnnx(graph, [&](std::string_view bytes) { return chunks.Append(bytes); }));
  }
  return chunks.Flush();
}

}  // namespace tinyprof
