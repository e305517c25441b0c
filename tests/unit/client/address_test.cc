#include "client/lib/address.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;

class AddressTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tinyprof-address-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    environment_["HOME"] = directory_.string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  void WriteConfig(const std::string& text) const {
    fs::create_directories(directory_ / ".config/tinyprof");
    std::ofstream(directory_ / ".config/tinyprof/client.toml") << text;
  }

  Result<Address> Resolve(const std::string& flag = "", bool is_root = false) const {
    return ResolveAddress(
        flag,
        [this](const std::string& name) -> std::optional<std::string> {
          const auto it = environment_.find(name);
          return it == environment_.end() ? std::nullopt : std::optional(it->second);
        },
        is_root);
  }

  fs::path directory_;
  std::map<std::string, std::string> environment_;
};

// Where a daemon without a runtime directory puts it.
TEST_F(AddressTest, FindsTheSocketInTheStateDirectory) {
  environment_["HOME"] = directory_.string();
  fs::create_directories(directory_ / ".local/state/tinyprof");
  std::ofstream(directory_ / ".local/state/tinyprof/tinyprofd.sock") << "";
  EXPECT_EQ(Resolve()->target,
            "unix:" + directory_.string() + "/.local/state/tinyprof/tinyprofd.sock");
  environment_["XDG_STATE_HOME"] = (directory_ / "state").string();
  fs::create_directories(directory_ / "state/tinyprof");
  std::ofstream(directory_ / "state/tinyprof/tinyprofd.sock") << "";
  EXPECT_EQ(Resolve()->target, "unix:" + directory_.string() + "/state/tinyprof/tinyprofd.sock");
}

TEST_F(AddressTest, GoesDownTheOrderOfPrecedence) {
  environment_["XDG_RUNTIME_DIR"] = directory_.string();
  EXPECT_EQ(Resolve()->target, "unix:/run/tinyprof/tinyprofd.sock");

  fs::create_directories(directory_ / "tinyprof");
  std::ofstream(directory_ / "tinyprof/tinyprofd.sock") << "";
  EXPECT_EQ(Resolve()->target, "unix:" + directory_.string() + "/tinyprof/tinyprofd.sock");
  EXPECT_EQ(Resolve("", /*is_root=*/true)->target, "unix:/run/tinyprof/tinyprofd.sock");

  WriteConfig("address = \"lab1:7070\"\n");
  EXPECT_EQ(Resolve()->target, "lab1:7070");
  environment_["TINYPROF_ADDRESS"] = "unix:/tmp/env.sock";
  EXPECT_EQ(Resolve()->target, "unix:/tmp/env.sock");
  EXPECT_EQ(Resolve()->origin, "TINYPROF_ADDRESS");
  EXPECT_EQ(Resolve("/tmp/flag.sock")->target, "unix:/tmp/flag.sock");
  EXPECT_EQ(Resolve("/tmp/flag.sock")->origin, "--address");
}

TEST_F(AddressTest, HonoursTheConfigHome) {
  fs::create_directories(directory_ / "xdg/tinyprof");
  std::ofstream(directory_ / "xdg/tinyprof/client.toml") << "address = '[::1]:9000'\n";
  environment_["XDG_CONFIG_HOME"] = (directory_ / "xdg").string();
  EXPECT_EQ(Resolve()->target, "[::1]:9000");
}

TEST_F(AddressTest, NamesTheLineOfABadConfig) {
  WriteConfig("# mine\nadress = \"lab1:7070\"\n");
  ASSERT_FALSE(Resolve().has_value());
  EXPECT_NE(Resolve().error().message.find("line 2: 'adress'"), std::string::npos)
      << Resolve().error().message;
  WriteConfig("address = 7070\n");
  EXPECT_FALSE(Resolve().has_value());
  WriteConfig("address = \n");
  ASSERT_FALSE(Resolve().has_value());
  EXPECT_NE(Resolve().error().message.find("client.toml: line 1"), std::string::npos);
}

TEST_F(AddressTest, RefusesMalformedAddresses) {
  for (const std::string& text :
       {std::string("lab1"), std::string("lab1:"), std::string(":7070"), std::string("lab1:0"),
        std::string("lab1:65536"), std::string("lab1:7x"), std::string("unix:relative.sock"),
        "/" + std::string(108, 'a'), std::string("tcp://lab:99"), std::string("http://lab:99"),
        std::string("dns:lab:99"), std::string("ipv4:127.0.0.1:99"), std::string("vsock:2:99"),
        std::string("::1:99"), std::string("lab/x:99"), std::string("la b:99"),
        std::string("[]:9")}) {
    const auto result = Resolve(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().reason, "BAD_ADDRESS") << text;
    EXPECT_NE(result.error().message.find("--address"), std::string::npos);
  }
  for (const std::string text : {"localhost:7070", "127.0.0.1:7070", "[::1]:7070", "lab-1.x_y:1"}) {
    EXPECT_EQ(Resolve(text)->target, text);
  }
  EXPECT_TRUE(Resolve("/" + std::string(106, 'a')).has_value());
}

}  // namespace
}  // namespace tinyprof::client
