#include "tests/e2e/daemon_fixture.h"

#include <grpcpp/create_channel.h>
#include <signal.h>

#include <thread>

namespace tinyprof::e2e {
namespace {

using Clock = std::chrono::steady_clock;

// The database of a daemon that has measured its roofline; empty when that failed.
std::string& SeedDatabase() {
  static std::string path;
  return path;
}

// Lives as long as the program.
const TempDir& SeedDirectory() {
  static const TempDir dir;
  return dir;
}

std::vector<std::string> Environment(const TempDir& dir) {
  return {"HOME=" + dir.File("home"), "PATH=/usr/bin:/bin"};
}

// A channel that shares no connection with earlier ones, nor their back-off.
std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

void DaemonTest::SetUpTestSuite() {
  if (!SeedDatabase().empty()) return;
  const TempDir& dir = SeedDirectory();
  const std::string address = "unix:" + dir.File("d.sock");
  const std::string config = dir.Write("d.toml", "lock_file = \"" + dir.File("lock") + "\"\n");
  const std::string state_dir = dir.File("state");
  Process daemon(dir.File("."),
                 {TINYPROFD, "--config", config, "--listen", address, "--state-dir", state_dir},
                 Environment(dir));
  Await("ready", [&] { return daemon.Err().find(" ready on ") != std::string::npos; });
  Process client(dir.File("."), {TINYPROF_CLIENT, "--address", address, "roofline", "--measure"},
                 Environment(dir));
  ASSERT_EQ(client.Wait(kPatience), 0) << client.Err() << daemon.Err();
  daemon.Signal(SIGTERM);
  ASSERT_EQ(daemon.Wait(kPatience), 0) << daemon.Err();
  SeedDatabase() = state_dir + "/tinyprof.db";
}

void DaemonTest::SetUp() {
  ASSERT_FALSE(SeedDatabase().empty()) << "no roofline could be measured";
  std::filesystem::create_directories(dir_.File("state"));
  std::filesystem::copy(SeedDatabase(), dir_.File("state/tinyprof.db"));
}

std::vector<std::string> DaemonTest::DaemonCommand(const std::string& config) {
  const std::string file =
      dir_.Write("d.toml", "lock_file = \"" + dir_.File("lock") + "\"\n" + config);
  std::vector<std::string> command = prefix_;
  command.insert(command.end(), {TINYPROFD, "--config", file, "--listen", address_, "--state-dir",
                                 dir_.File("state")});
  return command;
}

void DaemonTest::StartDaemon(const std::string& config) {
  std::vector<std::string> environment = Environment(dir_);
  environment.insert(environment.end(), more_environment_.begin(), more_environment_.end());
  daemon_ = std::make_unique<Process>(dir_.File("."), DaemonCommand(config), environment);
  Await("the daemon to be ready", [&] {
    return !daemon_->IsRunning() || daemon_->Err().find(" ready on ") != std::string::npos;
  });
  ASSERT_TRUE(daemon_->IsRunning()) << daemon_->Err();
}

std::unique_ptr<Process> DaemonTest::StartClient(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {TINYPROF_CLIENT, "--address", address_});
  return std::make_unique<Process>(dir_.File("."), arguments, Environment(dir_));
}

int DaemonTest::RunClient(const std::vector<std::string>& arguments) {
  const auto client = StartClient(arguments);
  const std::optional<int> code = client->Wait(kPatience);
  out_ = client->Out();
  err_ = client->Err();
  EXPECT_TRUE(code.has_value()) << "the client does not end: " << err_;
  return code.value_or(-1);
}

std::unique_ptr<v1::ProfilerService::Stub> DaemonTest::Profiler() const {
  return v1::ProfilerService::NewStub(NewChannel(address_));
}

std::unique_ptr<v1::HostService::Stub> DaemonTest::Host() const {
  return v1::HostService::NewStub(NewChannel(address_));
}

std::string DaemonTest::StartRun(bool is_long) {
  grpc::ClientContext context;
  v1::StartRunRequest request;
  request.mutable_spec()->mutable_model()->set_text("mlp");
  request.mutable_spec()->set_precision(is_long ? 0.0001 : 1);
  request.mutable_spec()->mutable_time_budget()->set_seconds(is_long ? 300 : 1);
  // Naive loops on a large batch: one pass takes long enough to be found in it.
  if (is_long) {
    request.mutable_spec()->mutable_model()->set_text("resnet18");
    request.mutable_spec()->set_backend(v1::BACKEND_REFERENCE);
  }
  v1::StartRunResponse response;
  const grpc::Status status = Profiler()->StartRun(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.run().id();
}

v1::Run DaemonTest::GetRun(const std::string& id) const {
  grpc::ClientContext context;
  v1::GetRunRequest request;
  request.set_id(id);
  v1::GetRunResponse response;
  const grpc::Status status = Profiler()->GetRun(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.run();
}

void DaemonTest::AwaitState(const std::string& id, v1::RunState state) const {
  Await(v1::RunState_Name(state), [&] { return GetRun(id).state() == state; });
}

void DaemonTest::Await(const std::string& what, const std::function<bool()>& condition) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (!condition()) {
    ASSERT_LT(Clock::now(), deadline) << "waited in vain for " << what;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string DaemonTest::NewestRun() const {
  grpc::ClientContext context;
  v1::ListRunsRequest request;
  request.set_page_size(1);
  v1::ListRunsResponse response;
  const grpc::Status status = Profiler()->ListRuns(&context, request, &response);
  return status.ok() && response.runs_size() == 1 ? response.runs(0).id() : "";
}

}  // namespace tinyprof::e2e
