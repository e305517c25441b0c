#include "daemon/rpc/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/ops/temp_dir.h"

namespace tinyprof {
namespace {

// A unix socket that is bound, and listens if asked to.
class BoundSocket {
 public:
  BoundSocket(const std::string& path, bool listens) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    if (listens) {
      EXPECT_EQ(listen(fd_, 1), 0);
    }
  }
  ~BoundSocket() { close(fd_); }

 private:
  int fd_;
};

TEST(CheckAddress, TakesUnixPathsAndLoopback) {
  for (const char* address :
       {"unix:/run/x.sock", "localhost:50051", "127.0.0.1:0", "127.9.9.9:1", "[::1]:65535"}) {
    EXPECT_TRUE(CheckAddress(address).has_value()) << address;
  }
}

TEST(CheckAddress, RefusesWhatOtherMachinesCanReach) {
  for (const char* address : {"0.0.0.0:1", "192.168.1.1:1", "[::]:1", "example.org:1",
                              "128.0.0.1:1", "127.0.0.1.evil.org:1", "::1:50051"}) {
    const Status checked = CheckAddress(address);
    ASSERT_FALSE(checked.has_value()) << address;
    EXPECT_EQ(checked.error().reason, "NOT_LOOPBACK") << address;
    EXPECT_THAT(checked.error().message, testing::HasSubstr("ssh -L"));
  }
}

TEST(CheckAddress, RefusesWhatIsNoAddress) {
  for (const char* address : {"", "localhost", ":1", "localhost:", "localhost:x", "localhost:65536",
                              "localhost:-1", "unix:", "unix:relative"}) {
    const Status checked = CheckAddress(address);
    ASSERT_FALSE(checked.has_value()) << address;
    EXPECT_EQ(checked.error().reason, "BAD_ADDRESS") << address;
  }
}

TEST(CheckAddress, APathMustFitASocketAddress) {
  EXPECT_TRUE(CheckAddress("unix:/" + std::string(106, 'x')).has_value());
  const Status checked = CheckAddress("unix:/" + std::string(107, 'x'));
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().reason, "PATH_TOO_LONG");
}

TEST(PrepareUnixPath, MakesTheDirectoryForItsGroupOnly) {
  const TempDir dir;
  ASSERT_TRUE(PrepareUnixPath(dir.File("new/x.sock")).has_value());
  struct stat status {};
  ASSERT_EQ(stat(dir.File("new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0750u);
}

TEST(PrepareUnixPath, RemovesASocketThatNobodyListensAt) {
  const TempDir dir;
  { const BoundSocket stale(dir.File("x.sock"), false); }
  ASSERT_TRUE(std::filesystem::exists(dir.File("x.sock")));
  EXPECT_TRUE(PrepareUnixPath(dir.File("x.sock")).has_value());
  EXPECT_FALSE(std::filesystem::exists(dir.File("x.sock")));
}

TEST(PrepareUnixPath, LeavesALiveSocketAlone) {
  const TempDir dir;
  const BoundSocket live(dir.File("x.sock"), true);
  const Status prepared = PrepareUnixPath(dir.File("x.sock"));
  ASSERT_FALSE(prepared.has_value());
  EXPECT_EQ(prepared.error().reason, "ADDRESS_IN_USE");
  EXPECT_TRUE(std::filesystem::exists(dir.File("x.sock")));
}

TEST(PrepareUnixPath, LeavesOtherFilesAlone) {
  const TempDir dir;
  dir.Write("x.sock", "precious");
  const Status prepared = PrepareUnixPath(dir.File("x.sock"));
  ASSERT_FALSE(prepared.has_value());
  EXPECT_EQ(prepared.error().reason, "NOT_A_SOCKET");
  EXPECT_TRUE(std::filesystem::exists(dir.File("x.sock")));
}

TEST(PrepareUnixPath, SaysWhichDirectoryCannotBeMade) {
  const TempDir dir;
  dir.Write("file", "");
  const Status prepared = PrepareUnixPath(dir.File("file/x.sock"));
  ASSERT_FALSE(prepared.has_value());
  EXPECT_EQ(prepared.error().reason, "SOCKET_DIRECTORY");
}

}  // namespace
}  // namespace tinyprof
