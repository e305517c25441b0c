#include "daemon/rpc/model_service.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/jobs/model_reader.h"
#include "daemon/jobs/stored_models.h"
#include "kernels/zoo/zoo.h"
#include "tests/unit/jobs/inline_reader.h"
#include "tests/unit/ops/temp_dir.h"
#include "tests/unit/rpc/service_test_util.h"

namespace tinyprof {
namespace {

// With the real store and the real zoo.
class ModelServiceTest : public testing::Test {
 protected:
  ModelServiceTest() {
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    stub_ = v1::ModelService::NewStub(server_->InProcessChannel({}));
  }
  ~ModelServiceTest() override {
    server_->Shutdown();
    server_->Wait();
  }

  grpc::Status Upload(const std::string& name, const std::string& file, v1::Model* model) {
    grpc::ClientContext context;
    v1::UploadModelResponse response;
    const auto writer = stub_->UploadModel(&context, &response);
    v1::UploadModelRequest message;
    message.set_name(name);
    writer->Write(message);
    for (size_t begin = 0; begin < file.size(); begin += 100'000) {
      message.set_chunk(file.substr(begin, 100'000));
      if (!writer->Write(message)) break;
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    *model = response.model();
    return status;
  }

  grpc::Status Export(const std::string& text, std::string* file) {
    grpc::ClientContext context;
    v1::ExportModelRequest request;
    request.mutable_model()->set_text(text);
    const auto reader = stub_->ExportModel(&context, request);
    for (v1::ExportModelResponse message; reader->Read(&message);) {
      EXPECT_LE(message.chunk().size(), size_t{1} << 20);
      *file += message.chunk();
    }
    return reader->Finish();
  }

  // The names of one page, and the token of the next.
  std::vector<std::string> List(int page_size, std::string* token) {
    grpc::ClientContext context;
    v1::ListModelsRequest request;
    request.set_page_size(page_size);
    request.set_page_token(*token);
    v1::ListModelsResponse response;
    EXPECT_TRUE(stub_->ListModels(&context, request, &response).ok());
    *token = response.next_page_token();
    std::vector<std::string> names;
    for (const v1::Model& model : response.models()) names.push_back(model.name());
    return names;
  }

  grpc::Status Delete(const std::string& name) {
    grpc::ClientContext context;
    v1::DeleteModelRequest request;
    request.set_name(name);
    v1::DeleteModelResponse response;
    return stub_->DeleteModel(&context, request, &response);
  }

  TempDir dir_;
  Logger logger_{STDERR_FILENO, LogFormat::kText, LogLevel::kError};
  Border border_{logger_};
  InlineReader runner_;
  ModelReader reader_{runner_, int64_t{1} << 30};
  std::unique_ptr<ModelStore> store_ =
      ModelStore::Open(dir_.File("models"), 10 << 20, [this](int fd) {
        return reader_.Check(fd);
      }).value();
  StoredModels models_{*store_, reader_};
  ModelService service_{*store_, models_, border_};
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::ModelService::Stub> stub_;
};

TEST_F(ModelServiceTest, ListsTheZooInPages) {
  std::vector<std::string> wanted;
  for (const ZooEntry& entry : ZooEntries()) wanted.emplace_back(entry.name);
  std::string token;
  EXPECT_EQ(List(0, &token), wanted);
  EXPECT_TRUE(token.empty());
  std::vector<std::string> paged;
  do {
    const std::vector<std::string> page = List(3, &token);
    EXPECT_LE(page.size(), 3u);
    paged.insert(paged.end(), page.begin(), page.end());
  } while (!token.empty());
  EXPECT_EQ(paged, wanted);
}

TEST_F(ModelServiceTest, RefusesBadPages) {
  v1::ListModelsResponse response;
  for (const int size : {-1, 1001}) {
    grpc::ClientContext context;
    v1::ListModelsRequest request;
    request.set_page_size(size);
    EXPECT_EQ(ReasonOf(stub_->ListModels(&context, request, &response)), "BAD_PAGE_SIZE");
  }
  grpc::ClientContext context;
  v1::ListModelsRequest request;
  request.set_page_token("nonsense");
  EXPECT_EQ(ReasonOf(stub_->ListModels(&context, request, &response)), "BAD_PAGE_TOKEN");
}

TEST_F(ModelServiceTest, ADaemonThatStopsReadsNoFile) {
  std::string file;
  ASSERT_TRUE(Export("mlp", &file).ok());
  reader_.Stop();
  v1::Model model;
  EXPECT_EQ(ReasonOf(Upload("late", file, &model)), "DRAINING");
  EXPECT_FALSE(store_->Get("late").has_value());
}

// 784*128 + 128 + 128*64 + 64 + 64*10 + 10 parameters.
TEST_F(ModelServiceTest, AnExportedModelCanBeUploadedListedAndDeleted) {
  std::string file;
  grpc::Status status = Export("mlp", &file);
  ASSERT_TRUE(status.ok()) << status.error_message();
  v1::Model model;
  status = Upload("mine", file, &model);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(model.name(), "mine");
  EXPECT_EQ(model.source(), "onnx");
  EXPECT_EQ(model.size_bytes(), static_cast<int64_t>(file.size()));
  EXPECT_EQ(model.parameter_count(), 109'386);
  std::string token;
  EXPECT_EQ(List(0, &token).back(), "mine");
  std::string again;
  ASSERT_TRUE(Export("mine", &again).ok());
  EXPECT_TRUE(again == file);
  EXPECT_TRUE(Delete("mine").ok());
  EXPECT_EQ(ReasonOf(Delete("mine")), "UNKNOWN_MODEL");
}

TEST_F(ModelServiceTest, RefusesBadUploads) {
  v1::Model model;
  EXPECT_EQ(ReasonOf(Upload("../etc", "x", &model)), "BAD_MODEL_NAME");
  EXPECT_EQ(ReasonOf(Upload("mlp", "x", &model)), "BAD_MODEL_NAME");
  EXPECT_EQ(Upload("junk", "this is no ONNX", &model).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(Upload("big", std::string((10 << 20) + 1, 'x'), &model)), "MODEL_TOO_LARGE");
  std::string token;
  EXPECT_EQ(List(0, &token).size(), ZooEntries().size());
}

TEST_F(ModelServiceTest, AnUploadBeginsWithItsName) {
  grpc::ClientContext context;
  v1::UploadModelResponse response;
  const auto writer = stub_->UploadModel(&context, &response);
  v1::UploadModelRequest message;
  message.set_chunk("bytes");
  writer->Write(message);
  writer->WritesDone();
  EXPECT_EQ(ReasonOf(writer->Finish()), "BAD_STREAM");
}

TEST_F(ModelServiceTest, TheZooCannotBeDeleted) {
  const grpc::Status status = Delete("resnet18");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(ReasonOf(status), "BUILT_IN_MODEL");
}

TEST_F(ModelServiceTest, AnUnknownModelCannotBeExported) {
  std::string file;
  EXPECT_EQ(Export("no-such-model", &file).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(file.empty());
}

TEST_F(ModelServiceTest, DescribesOneModel) {
  grpc::ClientContext context;
  v1::GetModelRequest request;
  request.set_name("resnet18");
  v1::GetModelResponse response;
  ASSERT_TRUE(stub_->GetModel(&context, request, &response).ok());
  EXPECT_EQ(response.model().source(), "zoo");
  EXPECT_EQ(response.model().parameter_count(), 11'689'512);
  EXPECT_GT(response.model().parameters_size(), 0);
}

}  // namespace
}  // namespace tinyprof
