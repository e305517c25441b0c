#include "daemon/model/model_store.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/model/onnx_import.h"
#include "daemon/model/sha256.h"
#include "tests/unit/model/onnx_test_util.h"

namespace tinyprof {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kLimit = 1 << 20;

std::string SmallModel(const std::string& op) {
  ModelMaker maker;
  maker.Input("x", {"N", "3"}).Output("y");
  maker.Node(op, {"x"}, {"y"});
  return maker.Bytes();
}

class ModelStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/model_store_" + std::to_string(::getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(directory_);
    Reopen();
  }
  void TearDown() override { fs::remove_all(directory_); }
  void Reopen() {
    Result<std::unique_ptr<ModelStore>> store = ModelStore::Open(directory_, kLimit, CheckOnnxFd);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = *std::move(store);
  }
  Result<StoredModel> Upload(const std::string& name, const std::string& bytes) {
    TINYPROF_ASSIGN_OR_RETURN(ModelUpload upload, store_->Begin(name));
    TINYPROF_RETURN_IF_ERROR(upload.Append(std::string_view(bytes).substr(0, bytes.size() / 2)));
    TINYPROF_RETURN_IF_ERROR(upload.Append(std::string_view(bytes).substr(bytes.size() / 2)));
    return upload.Commit();
  }
  size_t FileCount() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  std::string directory_;
  std::unique_ptr<ModelStore> store_;
};

TEST_F(ModelStoreTest, KeepsModelsOverRestarts) {
  const std::string bytes = SmallModel("Relu");
  const Result<StoredModel> stored = Upload("my-model.v2", bytes);
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
  EXPECT_EQ(stored->byte_size, static_cast<int64_t>(bytes.size()));
  ASSERT_TRUE(Upload("another", SmallModel("Tanh")).has_value());
  Reopen();
  const std::vector<StoredModel> models = store_->List();
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].name, "another");
  EXPECT_EQ(models[1].name, "my-model.v2");
  EXPECT_EQ(models[1].sha256, stored->sha256);
  EXPECT_EQ(models[1].created_time_ns, stored->created_time_ns);

  const Result<int> fd = store_->OpenModel("my-model.v2");
  ASSERT_TRUE(fd.has_value());
  ASSERT_TRUE(store_->Delete("my-model.v2").has_value());
  EXPECT_TRUE(ImportOnnxFd(*fd, {}).has_value());
  ::close(*fd);
  EXPECT_EQ(store_->Get("my-model.v2").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store_->OpenModel("my-model.v2").error().reason, "UNKNOWN_MODEL");
  EXPECT_EQ(store_->Delete("my-model.v2").error().reason, "UNKNOWN_MODEL");
}

TEST_F(ModelStoreTest, SameNameTakesTheSameContentOnly) {
  ASSERT_TRUE(Upload("m", SmallModel("Relu")).has_value());
  EXPECT_TRUE(Upload("m", SmallModel("Relu")).has_value());
  EXPECT_EQ(Upload("m", SmallModel("Tanh")).error().reason, "MODEL_EXISTS");
  EXPECT_EQ(FileCount(), 1U);
}

TEST_F(ModelStoreTest, RefusedAndUnfinishedUploadsLeaveNothing) {
  EXPECT_EQ(Upload("m", "this is no model").error().reason, "BAD_ONNX");
  EXPECT_EQ(Upload("m", "").error().reason, "BAD_ONNX");
  EXPECT_EQ(Upload("m", SmallModel("Mystery")).error().reason, "UNKNOWN_OPERATOR");
  EXPECT_EQ(Upload("m", std::string(kLimit + 1, 'x')).error().reason, "MODEL_TOO_LARGE");
  {
    Result<ModelUpload> upload = store_->Begin("m");
    ASSERT_TRUE(upload.has_value());
    ASSERT_TRUE(upload->Append("half a fi").has_value());
  }
  EXPECT_EQ(FileCount(), 0U);
  EXPECT_TRUE(store_->List().empty());
}

TEST_F(ModelStoreTest, OpenRemovesWhatACrashLeft) {
  std::ofstream(directory_ + "/.upload-7") << "half a fi";
  Reopen();
  EXPECT_EQ(FileCount(), 0U);
}

TEST_F(ModelStoreTest, NamesHaveRules) {
  for (const char* name : {"", ".hidden", "-x", "a/b", "../a", "a b", "a\n", "ü", "resnet50", "mlp",
                           "relu", "a(b)", "a;b"}) {
    EXPECT_EQ(store_->Begin(name).error().reason, "BAD_MODEL_NAME") << name;
  }
  EXPECT_FALSE(CheckModelName(std::string(101, 'a')).has_value());
  EXPECT_TRUE(CheckModelName(std::string(100, 'a')).has_value());
  EXPECT_TRUE(CheckModelName("ppocr_cls-2.0").has_value());
}

TEST_F(ModelStoreTest, ADirectoryThatCannotBeUsedIsAnError) {
  const std::string file = directory_ + "/file";
  std::ofstream(file) << "x";
  EXPECT_EQ(ModelStore::Open(file + "/models", kLimit, CheckOnnxFd).error().reason,
            "BAD_MODEL_DIRECTORY");
}

TEST(Sha256Test, MatchesTheStandardsExample) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::fputs("abc", file);
  std::fflush(file);
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(Sha256OfFd(::fileno(file)).value(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::fclose(file);
  EXPECT_FALSE(Sha256OfFd(-1).has_value());
}

}  // namespace
}  // namespace tinyprof
