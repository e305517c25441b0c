// ModelService: the models that can be named, uploads and exports. See service.proto.
#pragma once

#include "daemon/jobs/model_source.h"
#include "daemon/model/model_store.h"
#include "daemon/rpc/border.h"
#include "daemon/rpc/model_catalog.h"
#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof {

// Thread-safe. What it was given must outlive it.
class ModelService final : public v1::ModelService::Service {
 public:
  ModelService(ModelStore& store, ModelSource& models, Border& border)
      : store_(store), models_(models), catalog_(store, models), border_(border) {}

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
  Status Send(const v1::ModelSpec& asked, grpc::ServerWriter<v1::ExportModelResponse>& writer);
  Status List(const v1::ListModelsRequest& request, v1::ListModelsResponse& response);

  ModelStore& store_;
  ModelSource& models_;
  ModelCatalog catalog_;
  Border& border_;
};

}  // namespace tinyprof
