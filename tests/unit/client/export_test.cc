// `models export` onto every kind of target, in whole, refused and interrupted.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "client/lib/exit_code.h"
#include "client/lib/output_file.h"
#include "tests/unit/client/fake_daemon.h"
#include "tests/unit/client/harness.h"

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Export : public testing::Test {
 protected:
  Export() { fs::create_directory(directory_); }

  Caught Run(const std::string& model, const std::string& file,
             std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"models", "export",    model,
                                     file,     "--address", daemon_.address()};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaught(args, interrupts_);
  }
  std::string File(const std::string& name) const { return (directory_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(File(name)) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(File(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  FakeDaemon daemon_;
  const fs::path directory_ = daemon_.directory() / "files";
  Interrupts interrupts_{[] {}};
};

TEST_F(Export, AFileIsReplacedAndNoNeighbourTouched) {
  Write("net.onnx", "old");
  Write("net.onnx.part", "mine");
  ASSERT_EQ(chmod(File("net.onnx").c_str(), 0640), 0);
  const Caught caught = Run("mlp", File("net.onnx"));
  EXPECT_EQ(caught.exit_code, 0);
  EXPECT_EQ(caught.err, "tinyprof-client: wrote " + File("net.onnx") + " (12 B)\n");
  EXPECT_EQ(Read("net.onnx"), "first second");
  EXPECT_EQ(Read("net.onnx.part"), "mine");
  EXPECT_EQ(fs::status(File("net.onnx")).permissions(), fs::perms(0640));
  EXPECT_EQ(Names(), (std::set<std::string>{"net.onnx", "net.onnx.part"}));
}

TEST_F(Export, ANewFileHasTheModeOfNewFiles) {
  const mode_t mask = umask(027);
  const Caught caught = Run("mlp", File("net.onnx"));
  umask(mask);
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(fs::status(File("net.onnx")).permissions(), fs::perms(0640));
}

TEST_F(Export, ALinkStaysALink) {
  Write("real", "old");
  fs::create_symlink("real", File("link.onnx"));
  fs::create_symlink(File("link.onnx"), File("link_to_link.onnx"));
  fs::create_symlink("new", File("dangling.onnx"));
  EXPECT_EQ(Run("mlp", File("link_to_link.onnx")).exit_code, 0);
  EXPECT_EQ(Run("mlp", File("dangling.onnx")).exit_code, 0);
  for (const char* link : {"link.onnx", "link_to_link.onnx", "dangling.onnx"}) {
    EXPECT_TRUE(fs::is_symlink(File(link))) << link;
  }
  for (const char* file : {"real", "new"}) {
    EXPECT_FALSE(fs::is_symlink(File(file))) << file;
    EXPECT_EQ(Read(file), "first second") << file;
  }
}

TEST_F(Export, ADeviceIsWrittenInto) {
  fs::create_symlink("/dev/null", File("null"));
  EXPECT_EQ(Run("mlp", File("null")).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(File("null")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Caught full = Run("mlp", "/dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write /dev/full: No space left on device"));
  const Caught report = Run("mlp", File("null"), {"--json", "-o", "/dev/full"});
  EXPECT_EQ(report.exit_code, 1);
  const Caught as_json = Run("mlp", "/dev/full", {"--json"});
  EXPECT_EQ(as_json.exit_code, 1);
  EXPECT_EQ(json::parse(as_json.out)["error"]["code"], "RESOURCE_EXHAUSTED");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Export, AFifoIsWrittenInto) {
  ASSERT_EQ(mkfifo(File("fifo").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = Read("fifo"); });
  const Caught caught = Run("mlp", File("fifo"));
  reader.join();
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(got, "first second");
  EXPECT_TRUE(fs::is_fifo(File("fifo")));
}

TEST_F(Export, ADashIsStandardOutput) {
  const Caught caught = Run("mlp", "-");
  EXPECT_EQ(caught.exit_code, 0) << caught.err;
  EXPECT_EQ(caught.out, "first second");
  EXPECT_EQ(caught.err, "tinyprof-client: wrote 12 B to standard output\n");
  EXPECT_FALSE(fs::exists("-"));

  const Caught both = Run("mlp", "-", {"--json"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_EQ(json::parse(both.out)["error"]["reason"], "OUTPUT_TAKEN");
  const Caught over = Run("mlp", File("m.onnx"), {"--json", "-o", File("m.onnx")});
  EXPECT_EQ(over.exit_code, 2);
  const Caught apart = Run("mlp", "-", {"--json", "-o", File("result.json")});
  EXPECT_EQ(apart.exit_code, 0) << apart.err;
  EXPECT_EQ(apart.out, "first second");
  EXPECT_EQ(json::parse(Read("result.json"))["size_bytes"], 12);
}

TEST(CannotWrite, HasTheCodeOfItsCause) {
  const auto code = [](int error_number) { return CannotWrite("x", error_number).value().code; };
  for (const int none : {ENOENT, ENOTDIR}) EXPECT_EQ(code(none), ErrorCode::kNotFound);
  for (const int refused : {EACCES, EPERM, EROFS}) {
    EXPECT_EQ(code(refused), ErrorCode::kPermissionDenied);
  }
  for (const int full : {ENOSPC, EDQUOT, EFBIG}) {
    EXPECT_EQ(code(full), ErrorCode::kResourceExhausted);
  }
  EXPECT_EQ(code(EIO), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code(EISDIR), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ResultNotWritten("x", EISDIR).value().code, ErrorCode::kFailedPrecondition);
  for (const int any : {ENOENT, EACCES, ENOSPC, EIO, EISDIR}) {
    EXPECT_EQ(ExitCodeFor(CannotWrite("x", any).value()), ExitCode::kRunFailed);
  }
}

TEST_F(Export, WhatFailsLeavesTheTargetAndNothingElse) {
  Write("net.onnx", "old");
  EXPECT_EQ(Run("broken", File("net.onnx")).exit_code, 2);
  EXPECT_EQ(Run("broken", File("new.onnx")).exit_code, 2);
  const Caught directory = Run("mlp", directory_.string(), {"--json"});
  EXPECT_EQ(directory.exit_code, 1);
  EXPECT_THAT(directory.err, HasSubstr("Is a directory"));
  EXPECT_EQ(json::parse(directory.out)["error"]["reason"], "FILE_NOT_WRITABLE");
  EXPECT_EQ(json::parse(directory.out)["error"]["code"], "INVALID_ARGUMENT");
  const Caught nowhere = Run("mlp", File("none/new.onnx"), {"--json"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_EQ(json::parse(nowhere.out)["error"]["code"], "NOT_FOUND");
  fs::create_symlink("loop", File("loop"));
  EXPECT_THAT(Run("mlp", File("loop")).err, HasSubstr("Too many levels of symbolic links"));
  EXPECT_EQ(Read("net.onnx"), "old");
  EXPECT_EQ(Names(), (std::set<std::string>{"loop", "net.onnx"}));
}

// Nothing but its name tells MODEL from the name of an uploaded model.
TEST_F(Export, AFileThatNoCommandWouldTakeForOneIsRefused) {
  const Caught caught = Run("mlp", File("net.bin"), {"--json"});
  EXPECT_EQ(caught.exit_code, 2);
  EXPECT_THAT(caught.err, HasSubstr("call the file " + File("net.bin") + ".onnx: "));
  EXPECT_EQ(json::parse(caught.out)["error"]["reason"], "BAD_FILE_NAME");
  EXPECT_EQ(daemon_.models.export_calls, 0) << "nothing was asked for";
  EXPECT_TRUE(Names().empty());
}

TEST_F(Export, AnInterruptLeavesNothing) {
  Write("net.onnx", "old");
  daemon_.models.hold = true;
  std::thread finger([this] {
    while (daemon_.models.export_calls == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    interrupts_.Trigger();
  });
  const Caught caught = Run("mlp", File("net.onnx"));
  finger.join();
  EXPECT_EQ(caught.exit_code, 130);
  EXPECT_THAT(caught.err, HasSubstr("interrupted; "));
  EXPECT_EQ(Read("net.onnx"), "old");
  EXPECT_EQ(Names(), std::set<std::string>{"net.onnx"});
}

}  // namespace
}  // namespace tinyprof::client
