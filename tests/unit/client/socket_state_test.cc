// Sockets that cannot be talked to, each made for real.
#include "client/lib/socket_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "client/lib/address.h"
#include "client/lib/exit_code.h"

namespace tinyprof::client {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SocketState : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tinyprof-socket-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    // Anybody may pass, so that what a test closes is all that is closed.
    fs::permissions(directory_, fs::perms(0755));
  }
  void TearDown() override {
    if (listener_ >= 0) close(listener_);
    fs::remove_all(directory_);
  }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }

  // A socket at `name` that is bound, and listened on when `listens`.
  std::string Bind(const std::string& name, bool listens) {
    const std::string path = Path(name);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    if (listens) {
      EXPECT_EQ(listen(listener_, 1), 0);
    }
    return path;
  }

  // ExplainSocket as a user without rights: "EXIT_CODE REASON MESSAGE".
  static std::string ExplainedToAStranger(const std::string& path) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      constexpr uid_t kNobody = 65534;
      if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(1);
      const Error error = ExplainSocket(path);
      const std::string text = std::to_string(static_cast<int>(ExitCodeFor(error))) + " " +
                               error.reason + " " + error.message;
      _exit(write(ends[1], text.data(), text.size()) > 0 ? 0 : 1);
    }
    close(ends[1]);
    std::string text(4096, '\0');
    const ssize_t got = read(ends[0], text.data(), text.size());
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return text;
  }

  fs::path directory_;
  int listener_ = -1;
};

// Whoever runs the test: the owner of all it makes.
std::string Me() { return getpwuid(geteuid())->pw_name; }

TEST_F(SocketState, NothingIsThere) {
  const Error error = ExplainSocket(Path("no.sock"));
  EXPECT_EQ(ExitCodeFor(error), ExitCode::kUnreachable);
  EXPECT_EQ(error.message, "tinyprofd is not running at unix:" + Path("no.sock") +
                               "; start it with `tinyprofd --listen unix:" + Path("no.sock") +
                               "` or pass --address");
}

TEST_F(SocketState, TheDirectoryIsMissing) {
  const Error error = ExplainSocket(Path("no/such.sock"));
  EXPECT_EQ(ExitCodeFor(error), ExitCode::kUnreachable);
  EXPECT_EQ(error.reason, "NO_DIRECTORY");
  EXPECT_THAT(error.message,
              HasSubstr("there is no directory " + Path("no") +
                        "; start it with `tinyprofd --listen unix:" + Path("no/such.sock") + "`"));
}

// Where a daemon listens that is told nothing, nothing has to be told.
TEST_F(SocketState, TheSystemsSocketNeedsNoOption) {
  const std::string path = SocketPath(std::string(kSystemAddress));
  if (fs::exists(path)) GTEST_SKIP() << "a daemon of this system may listen there";
  EXPECT_THAT(ExplainSocket(path).message, HasSubstr("start it with `tinyprofd`"));
}

TEST_F(SocketState, AFileStandsForTheDirectory) {
  std::ofstream(Path("file")) << "x";
  EXPECT_EQ(ExplainSocket(Path("file/x.sock")).reason, "NO_DIRECTORY");
}

TEST_F(SocketState, ThePathIsNoSocket) {
  std::ofstream(Path("file")) << "x";
  for (const auto& [path, kind] :
       {std::pair(Path("file"), "file"), std::pair(directory_.string(), "directory")}) {
    const Error error = ExplainSocket(path);
    EXPECT_EQ(ExitCodeFor(error), ExitCode::kUnreachable);
    EXPECT_EQ(error.reason, "NOT_A_SOCKET");
    EXPECT_THAT(error.message, HasSubstr(path + " is a " + kind + " and no socket"));
  }
}

TEST_F(SocketState, NobodyListens) {
  const Error error = ExplainSocket(Bind("left.sock", false));
  EXPECT_EQ(ExitCodeFor(error), ExitCode::kUnreachable);
  EXPECT_EQ(error.reason, "DAEMON_NOT_RUNNING");
  EXPECT_THAT(error.message, HasSubstr("left behind and nobody listens; start it with `tinyprofd "
                                       "--listen unix:" +
                                       Path("left.sock") + "`"));
}

TEST_F(SocketState, SomebodyListensAndSaysNothing) {
  const Error error = ExplainSocket(Bind("silent.sock", true));
  EXPECT_EQ(ExitCodeFor(error), ExitCode::kUnreachable);
  EXPECT_EQ(error.reason, "DAEMON_SILENT");
}

// As ssh does for a forwarded socket whose far end it may not or cannot open.
TEST_F(SocketState, ConnectionsAreClosedAtOnce) {
  const std::string path = Bind("forwarded.sock", true);
  std::thread forwarder([this] {
    for (int i = 0; i < 2; ++i) close(accept(listener_, nullptr, nullptr));
  });
  const Error error = ExplainSocket(path);
  forwarder.join();
  EXPECT_EQ(ExitCodeFor(error), ExitCode::kUnreachable);
  EXPECT_EQ(error.reason, "CONNECTION_CLOSED");
  EXPECT_THAT(error.message, HasSubstr("`ssh -L`"));
}

// As a daemon that is killed does with what waits for it.
TEST_F(SocketState, TheDaemonEndsMeanwhile) {
  const std::string path = Bind("ending.sock", true);
  std::thread killed([this] {
    const int connection = accept(listener_, nullptr, nullptr);
    close(listener_);
    listener_ = -1;
    close(connection);
  });
  const Error error = ExplainSocket(path);
  killed.join();
  EXPECT_EQ(ExitCodeFor(error), ExitCode::kUnreachable);
  EXPECT_EQ(error.reason, "DAEMON_NOT_RUNNING");
}

TEST_F(SocketState, TheSocketIsForItsOwnerAlone) {
  const std::string path = Bind("mine.sock", true);
  ASSERT_EQ(chmod(path.c_str(), geteuid() == 0 ? 0600 : 0), 0);
  const std::string explained = ExplainedToAStranger(path);
  EXPECT_THAT(explained, testing::StartsWith("4 SOCKET_DENIED you may not open unix:" + path));
  EXPECT_THAT(explained, HasSubstr(path + " is for " + Me() + " alone; " + Me() + " can let"));
  EXPECT_THAT(explained, HasSubstr("`tinyprofd --socket-mode 0666 --listen unix:"));
  EXPECT_THAT(explained, testing::Not(HasSubstr("usermod")));
}

TEST_F(SocketState, TheDirectoryMayNotBeEntered) {
  fs::create_directories(Path("closed/below"));
  const std::string path = Path("closed/below/x.sock");
  fs::permissions(Path("closed"), fs::perms(geteuid() == 0 ? 0750 : 0));
  const std::string explained = ExplainedToAStranger(path);
  fs::permissions(Path("closed"), fs::perms(0700));
  EXPECT_THAT(explained, testing::StartsWith("4 SOCKET_DENIED "));
  EXPECT_THAT(explained, HasSubstr(Path("closed") + " is for " + Me()));
}

}  // namespace
}  // namespace tinyprof::client
