// The daemon's own life: configuration, the lock, restarts, draining.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/e2e/daemon_fixture.h"

namespace tinyprof::e2e {
namespace {

using testing::HasSubstr;

class DaemonLifeTest : public DaemonTest {
 protected:
  // Runs tinyprofd with `arguments` to its end.
  int RunDaemon(std::vector<std::string> arguments, std::string* text) {
    arguments.insert(arguments.begin(), TINYPROFD);
    Process process(dir_.File("."), arguments, {"HOME=" + dir_.File("home")});
    const std::optional<int> code = process.Wait(kPatience);
    *text = process.Out() + process.Err();
    return code.value_or(-1);
  }
  // The daemon's user from here on: one whom the limit of processes binds, unlike root.
  void BeAUserWithoutOtherProcesses() {
    if (geteuid() != 0) return;
    constexpr uid_t kUser = 64'021;
    const std::string id = std::to_string(kUser);
    prefix_ = {"/usr/bin/setpriv", "--reuid", id, "--regid", id, "--clear-groups"};
    for (const char* path : {".", "state", "state/tinyprof.db"}) {
      ASSERT_EQ(chown(dir_.File(path).c_str(), kUser, kUser), 0) << path;
    }
  }
};

TEST_F(DaemonLifeTest, ServesHealthAndTheHost) {
  StartDaemon();
  EXPECT_THAT(daemon().Err(), HasSubstr("ready on " + address_ + "\n"));
  EXPECT_EQ(RunClient({"health"}), 0) << err();
  EXPECT_EQ(RunClient({"host", "--json"}), 0) << err();
  EXPECT_EQ(RunClient({"doctor"}), 0) << err();
  EXPECT_EQ(RunClient({"counters"}), 0) << err();
}

TEST_F(DaemonLifeTest, UnknownFlagsAndKeysAreNamed) {
  std::string text;
  EXPECT_EQ(RunDaemon({"--lisen", "unix:/x"}, &text), 2);
  EXPECT_THAT(text, HasSubstr("--lisen"));
  const std::string file = dir_.Write("bad.toml", "lisen = 1\nqueue_limit = 0\n");
  EXPECT_EQ(RunDaemon({"--config", file}, &text), 78);
  EXPECT_THAT(text, HasSubstr(file + ":1:1: unknown key 'lisen'"));
  EXPECT_THAT(text, HasSubstr(file + ":2:1: queue_limit"));
  EXPECT_EQ(RunDaemon({"--config", file, "--check-config"}, &text), 78);
}

TEST_F(DaemonLifeTest, ChecksAndPrintsItsConfiguration) {
  const std::string file = dir_.Write("good.toml", "queue_limit = 5\n");
  std::string text;
  EXPECT_EQ(RunDaemon({"--config", file, "--check-config"}, &text), 0);
  EXPECT_EQ(text, "");
  EXPECT_EQ(RunDaemon({"--config", file, "--print-config"}, &text), 0);
  EXPECT_THAT(text, HasSubstr("queue_limit = 5  # " + file + ":1:1"));
  EXPECT_EQ(RunDaemon({"--version"}, &text), 0);
  EXPECT_THAT(text, HasSubstr("tinyprofd "));
}

TEST_F(DaemonLifeTest, ASecondDaemonIsRefusedWithThePidOfTheFirst) {
  StartDaemon();
  Process second(dir_.File("."), DaemonCommand(""), {});
  EXPECT_EQ(second.Wait(kPatience), 1);
  EXPECT_THAT(second.Err(), HasSubstr("process " + std::to_string(daemon().pid())));
  EXPECT_EQ(RunClient({"health"}), 0) << err();
}

// As two containers that share a volume have it.
TEST_F(DaemonLifeTest, ASecondDaemonOnTheSameStateIsRefusedWhateverItsHostLock) {
  StartDaemon();
  const std::string id = StartRun(true);
  AwaitState(id, v1::RUN_STATE_RUNNING);
  std::string text;
  EXPECT_EQ(
      RunDaemon({"--config", dir_.Write("2.toml", "lock_file = \"" + dir_.File("lock2") + "\"\n"),
                 "--listen", "unix:" + dir_.File("2.sock"), "--state-dir", dir_.File("state")},
                &text),
      1);
  EXPECT_THAT(text, HasSubstr(dir_.File("state")));
  EXPECT_THAT(text, HasSubstr("process " + std::to_string(daemon().pid())));
  EXPECT_EQ(GetRun(id).state(), v1::RUN_STATE_RUNNING);
}

TEST_F(DaemonLifeTest, RefusesAnAddressThatOtherMachinesReach) {
  std::string text;
  std::vector<std::string> command = DaemonCommand("");
  command.erase(command.begin());
  command.insert(command.end(), {"--listen", "0.0.0.0:0"});
  EXPECT_EQ(RunDaemon(command, &text), 78);
  EXPECT_THAT(text, HasSubstr("loopback"));
  command.emplace_back("--check-config");
  EXPECT_EQ(RunDaemon(command, &text), 78);
  EXPECT_THAT(text, HasSubstr("loopback"));
}

TEST_F(DaemonLifeTest, RefusesCpusThatAreNotThere) {
  for (const char* more : {"", "--check-config", "--print-config"}) {
    std::vector<std::string> command = DaemonCommand("");
    command.erase(command.begin());
    command.insert(command.end(), {"--cpus", "4095"});
    if (*more != '\0') command.emplace_back(more);
    std::string text;
    EXPECT_EQ(RunDaemon(command, &text), 78) << more;
    EXPECT_THAT(text, HasSubstr("4095"));
  }
}

TEST_F(DaemonLifeTest, ADaemonThatIsNotThereIsSaidSo) {
  EXPECT_EQ(RunClient({"profile", "mlp"}), 3);
  EXPECT_THAT(err(), HasSubstr("tinyprofd is not running at " + address_));
}

TEST_F(DaemonLifeTest, ResultsOutliveAKilledDaemonAndRunsInProgressFail) {
  StartDaemon();
  const std::string finished = StartRun(false);
  AwaitState(finished, v1::RUN_STATE_SUCCEEDED);
  const std::string running = StartRun(true);
  AwaitState(running, v1::RUN_STATE_RUNNING);
  const std::string queued = StartRun(false);
  const auto watcher = StartClient({"watch", running});
  Await("the watcher", [&] { return !watcher->Err().empty(); });
  daemon().Signal(SIGKILL);
  ASSERT_EQ(daemon().Wait(kPatience), 128 + SIGKILL);
  EXPECT_EQ(watcher->Wait(kPatience), 3) << watcher->Err();
  EXPECT_THAT(watcher->Err(), HasSubstr(running));
  StartDaemon();
  EXPECT_EQ(GetRun(finished).state(), v1::RUN_STATE_SUCCEEDED);
  EXPECT_GT(GetRun(finished).report().layers_size(), 0);
  for (const std::string& id : {running, queued}) {
    EXPECT_EQ(GetRun(id).state(), v1::RUN_STATE_FAILED);
    EXPECT_EQ(GetRun(id).error().reason(), "DAEMON_RESTARTED");
  }
}

TEST_F(DaemonLifeTest, SigtermCancelsARunThatOutlastsTheDrain) {
  StartDaemon("drain_timeout = \"1s\"\n");
  const std::string id = StartRun(true);
  AwaitState(id, v1::RUN_STATE_RUNNING);
  daemon().Signal(SIGTERM);
  ASSERT_EQ(daemon().Wait(kPatience), 0) << daemon().Err();
  EXPECT_FALSE(std::filesystem::exists(dir_.File("d.sock")));
  StartDaemon();
  EXPECT_EQ(GetRun(id).state(), v1::RUN_STATE_CANCELLED);
}

TEST_F(DaemonLifeTest, AWatcherIsToldThatTheDaemonWasStopped) {
  StartDaemon("drain_timeout = \"0s\"\n");
  const std::string id = StartRun(true);
  AwaitState(id, v1::RUN_STATE_RUNNING);
  const auto watcher = StartClient({"watch", id});
  Await("the watcher", [&] { return !watcher->Err().empty(); });
  daemon().Signal(SIGTERM);
  EXPECT_EQ(watcher->Wait(kPatience), 1);
  EXPECT_THAT(watcher->Err(), HasSubstr("tinyprofd was stopped before the run had ended"));
}

TEST_F(DaemonLifeTest, ASocketThatItsDirectoryHidesIsToldInTheLog) {
  address_ = "unix:" + dir_.File("made/d.sock");
  StartDaemon("socket_mode = \"0666\"\n");
  EXPECT_THAT(daemon().Err(), HasSubstr("socket_out_of_reach"));
  EXPECT_THAT(daemon().Err(), HasSubstr("directory=" + dir_.File("made")));
}

TEST_F(DaemonLifeTest, ADrainingDaemonTakesNoRunsAndASecondSignalEndsIt) {
  StartDaemon("drain_timeout = \"1h\"\n");
  const std::string id = StartRun(true);
  AwaitState(id, v1::RUN_STATE_RUNNING);
  daemon().Signal(SIGTERM);
  Await("the drain", [&] { return daemon().Err().find("draining") != std::string::npos; });
  Await("a refusal", [&] {
    grpc::ClientContext context;
    v1::StartRunRequest request;
    request.mutable_spec()->mutable_model()->set_text("mlp");
    v1::StartRunResponse response;
    return Profiler()->StartRun(&context, request, &response).error_code() ==
           grpc::StatusCode::UNAVAILABLE;
  });
  EXPECT_EQ(GetRun(id).state(), v1::RUN_STATE_RUNNING);
  daemon().Signal(SIGTERM);
  EXPECT_EQ(daemon().Wait(kPatience), 0) << daemon().Err();
}

// What systemd is told by a service of Type=notify.
TEST_F(DaemonLifeTest, TellsTheServiceManagerThatItIsReadyAndThatItStops) {
  const std::string path = dir_.File("notify.sock");
  const int manager = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(manager, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(manager, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const auto next = [&] {
    char text[512];
    const ssize_t length = ::recv(manager, text, sizeof(text), MSG_DONTWAIT);
    return std::string(text, length > 0 ? static_cast<size_t>(length) : 0);
  };
  more_environment_ = {"NOTIFY_SOCKET=" + path};
  StartDaemon();
  EXPECT_THAT(next(), HasSubstr("READY=1"));
  daemon().Signal(SIGTERM);
  EXPECT_EQ(daemon().Wait(kPatience), 0);
  EXPECT_THAT(next(), HasSubstr("STOPPING=1"));
  ::close(manager);
}

TEST_F(DaemonLifeTest, TooFewThreadsAreSaidBeforeItServes) {
  BeAUserWithoutOtherProcesses();
  prefix_.insert(prefix_.end(), {"/usr/bin/prlimit", "--nproc=16"});
  // A copy that this user may run: others may not enter every folder that is built in.
  const std::string program = dir_.File("tinyprofd");
  std::filesystem::copy_file(TINYPROFD, program);
  std::vector<std::string> command = DaemonCommand("");
  std::replace(command.begin(), command.end(), std::string(TINYPROFD), program);
  Process limited(dir_.File("."), command, {});
  EXPECT_EQ(limited.Wait(kPatience), 78);
  EXPECT_THAT(limited.Err(), HasSubstr("48 threads"));
}

TEST_F(DaemonLifeTest, SighupReadsTheLogLevelAnew) {
  StartDaemon("log_level = \"warn\"\n");
  DaemonCommand("log_level = \"info\"\n");
  daemon().Signal(SIGHUP);
  Await("the reload", [&] { return daemon().Err().find("reloaded") != std::string::npos; });
  EXPECT_TRUE(daemon().IsRunning());
}

}  // namespace
}  // namespace tinyprof::e2e
