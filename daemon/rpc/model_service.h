// ModelService: the models that can be named, uploads and exports. See service.proto.
#pragma once

#include "daemon/rpc/border.h"
#include "daemon/rpc/model_catalog.h"
#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof {

// Thread-safe. What it was given must outlive it.
class ModelService final : public v1::ModelService::Service {
 public:
  ModelService(ModelCatalog& catalog, Border& border) : catalog_(catalog), border_(border) {}

  grpc::Status UploadModel(grpc::ServerContext* context,
                           grpc::ServerReader<v1::UploadModelRequest>* reader,
                           v1::UploadModelResponse* response) override;
  grpc::Status ListModels(grpc::ServerContext* context, const v1::ListModelsRequest* request,
                          v1::ListModelsResponse* response) override;
  grpc::Status GetModel(grpc::ServerContext* context, const v1::GetModelRequest* request,
                        v1::GetModelResponse* response) override;
  grpc::Status DeleteModel(grpc::ServerContext* context, const v1::DeleteModelRequest* request,
                           v1::DeleteModelResponse* response) override;
  grpc::Status ExportModel(grpc::ServerContext* context, const v1::ExportModelRequest* request,
                           grpc::ServerWriter<v1::ExportModelResponse>* writer) override;

 private:
  Status Receive(grpc::ServerContext& context, grpc::ServerReader<v1::UploadModelRequest>& reader,
                 v1::UploadModelResponse& response);
  Status List(const v1::ListModelsRequest& request, v1::ListModelsResponse& response);

  ModelCatalog& catalog_;
  Border& border_;
};

}  // namespace tinyprof
