// `models`: what is listed, uploaded, exported and deleted, and under which names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/lib/model_file.h"
#include "client/render/json.h"
#include "client/render/people.h"
#include "tests/unit/client/flow_fixture.h"

namespace tinyprof::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Models = Flow;

std::string Contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Models, UploadPrintsTheName) {
  const std::string path = (daemon_.directory() / "my model.onnx").string();
  std::ofstream(path) << "bytes";
  const Caught caught = Call({"models", "upload", path});
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(daemon_.models.uploaded_bytes, "bytes");
  EXPECT_EQ(caught.out, daemon_.models.uploaded_name + "\n");
  const json document = json::parse(Call({"models", "upload", path, "--json"}).out);
  EXPECT_EQ(document["command"], "models upload");
  EXPECT_EQ(document["model"], daemon_.models.uploaded_name);
}

TEST_F(Models, AModelFileIsUploadedOnce) {
  const std::string path = (daemon_.directory() / "my net.onnx").string();
  std::ofstream(path) << "abc";
  daemon_.profiler.states = {SucceededRun()};
  EXPECT_EQ(Call({"profile", path}).exit_code, 0);
  // The SHA-256 of "abc" begins with ba7816bf8f01.
  EXPECT_EQ(daemon_.models.uploaded_name, "my_net-ba7816bf8f01");
  EXPECT_EQ(daemon_.models.uploaded_bytes, "abc");
  EXPECT_EQ(daemon_.profiler.start_request.spec().model().text(), "my_net-ba7816bf8f01");

  daemon_.models.uploaded_bytes.clear();
  daemon_.models.known_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(Call({"profile", path}).exit_code, 0);
  EXPECT_EQ(daemon_.models.uploaded_bytes, "");
}

TEST_F(Models, ModelsReadsAllPagesAndExports) {
  const json models = json::parse(Call({"models", "--json"}).out)["models"];
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[1]["name"], "mine");
  const auto path = daemon_.directory() / "out.onnx";
  EXPECT_EQ(Call({"models", "export", "mlp", path.string()}).exit_code, 0);
  EXPECT_EQ(Contents(path), "first second");

  const auto broken = daemon_.directory() / "broken.onnx";
  EXPECT_EQ(Call({"models", "export", "broken", broken.string()}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(broken));
}

TEST_F(Models, TheTimeoutBoundsUploadAndExport) {
  daemon_.models.hold = true;
  const std::string path = (daemon_.directory() / "net.onnx").string();
  std::ofstream(path) << "abc";
  const Caught upload = Call({"analyze", path, "--timeout", "300ms"});
  EXPECT_EQ(upload.exit_code, 124) << upload.err;
  EXPECT_THAT(upload.err, HasSubstr("did not answer in time"));
  const Caught exported = Call({"models", "export", "mlp", path, "--timeout", "300ms", "--json"});
  EXPECT_EQ(exported.exit_code, 124) << exported.err;
  EXPECT_EQ(json::parse(exported.out)["error"]["reason"], "NO_ANSWER");
  EXPECT_EQ(Contents(path), "abc");
  daemon_.models.hold = false;
}

TEST_F(Models, AFileThatIsCalledModelIsNamedAfterItsFolder) {
  constexpr const char* kDigest =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const std::pair<const char*, const char*> kCases[] = {
      {"/data/test_lstm_defaults/model.onnx", "test_lstm_defaults-ba7816bf8f01"},
      {"/data/test_lstm_defaults/test_data_set_0/../model.onnx", "test_lstm_defaults-ba7816bf8f01"},
      {"/data/test_lstm_defaults//model.onnx", "test_lstm_defaults-ba7816bf8f01"},
      {"/data/my net/model.onnx", "my_net-ba7816bf8f01"},
      {"/data/resnet/net.onnx", "net-ba7816bf8f01"},
      {"/model.onnx", "model-ba7816bf8f01"},
      {"/data/-x.onnx", "model-x-ba7816bf8f01"},
      {"/data/.onnx", "model.onnx-ba7816bf8f01"},
  };
  for (const auto& [path, name] : kCases) EXPECT_EQ(UploadName(path, kDigest), name) << path;
  const std::string here = std::filesystem::current_path().filename().string();
  EXPECT_EQ(UploadName("model.onnx", kDigest), UploadName("/" + here + ".onnx", kDigest));
  EXPECT_EQ(UploadName("./model.onnx", kDigest), UploadName("/" + here + ".onnx", kDigest));
}

TEST_F(Models, AnUploadedModelCanBeDeleted) {
  const Caught caught = Call({"models", "delete", "mine"});
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(caught.out, "model mine: deleted\n");
  EXPECT_EQ(daemon_.models.deleted_name, "mine");
  const json document = json::parse(Call({"models", "delete", "mine", "--json"}).out);
  EXPECT_EQ(document["command"], "models delete");
  EXPECT_EQ(document["model"], "mine");
  EXPECT_EQ(document["deleted"], true);

  daemon_.models.delete_status =
      Refusal(grpc::StatusCode::PERMISSION_DENIED, "ZOO_MODEL", "mlp belongs to tinyprof");
  const Caught refused = Call({"models", "delete", "mlp"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_EQ(refused.err, "tinyprof-client: mlp belongs to tinyprof\n");
}

v1::Model Uploaded() {
  v1::Model model;
  model.set_name("net-ba7816bf8f01");
  model.set_source("onnx");
  model.set_summary("an uploaded file");
  model.set_parameter_count(1234);
  model.set_sha256("ba7816bf");
  model.set_size_bytes(3 << 19);
  // 2023-11-14 22:13:20 UTC, from the table of Unix times.
  model.mutable_upload_time()->set_seconds(1700000000);
  return model;
}

TEST(ModelsText, TellsUploadsApart) {
  v1::Model zoo;
  zoo.set_name("mlp");
  zoo.set_source("zoo");
  zoo.set_parameter_count(109386);
  zoo.set_summary("three layers");
  v1::Model unread = Uploaded();
  unread.clear_parameter_count();
  EXPECT_EQ(
      ModelsText({zoo, Uploaded(), unread}, {}),
      "model             source  parameters      size  uploaded (UTC)       summary           "
      "options\n"
      "mlp               zoo        109,386                                 three layers\n"
      "net-ba7816bf8f01  onnx         1,234  1.50 MiB  2023-11-14 22:13:20  an uploaded file\n"
      "net-ba7816bf8f01  onnx           n/a  1.50 MiB  2023-11-14 22:13:20  an uploaded file\n");
}

TEST(ModelsDocument, ParametersThatAreNotKnownAreNotNone) {
  v1::Model unread = Uploaded();
  unread.clear_parameter_count();
  const Json list = ModelsDocument({Uploaded(), unread})["models"];
  EXPECT_EQ(list[0]["parameter_count"], 1234);
  EXPECT_EQ(list[0]["parameter_count_reason"], nullptr);
  EXPECT_EQ(list[1]["parameter_count"], nullptr);
  EXPECT_THAT(list[1]["parameter_count_reason"].get<std::string>(),
              testing::StartsWith("NEEDS_SHAPES: "));
}

}  // namespace
}  // namespace tinyprof::client
