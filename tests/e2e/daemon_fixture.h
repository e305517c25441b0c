// A real tinyprofd with a directory, a socket and a lock file of its own, and clients of it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/process.h"
#include "tests/unit/ops/temp_dir.h"
#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof::e2e {

// Long enough for any step on a loaded machine; no test waits for it when things are right.
inline constexpr std::chrono::seconds kPatience{180};

class DaemonTest : public testing::Test {
 protected:
  // A daemon that is measured with once for the whole suite, so that no test waits for a roofline.
  static void SetUpTestSuite();
  void SetUp() override;

  // Starts the daemon with lines of TOML added to its file, and waits until it is ready.
  void StartDaemon(const std::string& config = "");
  // The daemon's command with that file, without starting it.
  std::vector<std::string> DaemonCommand(const std::string& config);
  Process& daemon() { return *daemon_; }

  std::unique_ptr<Process> StartClient(std::vector<std::string> arguments);
  // Runs a client to its end and gives its exit code.
  int RunClient(const std::vector<std::string>& arguments);
  // Of the last RunClient.
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

  // A stub of its own channel: a daemon that was restarted is found at once.
  std::unique_ptr<v1::ProfilerService::Stub> Profiler() const;
  std::unique_ptr<v1::HostService::Stub> Host() const;
  // Starts a short run, or one that goes on until it is stopped; gives its id.
  std::string StartRun(bool is_long);
  v1::Run GetRun(const std::string& id) const;
  // Waits until the run is in that state; fails the test when it never is.
  void AwaitState(const std::string& id, v1::RunState state) const;
  static void Await(const std::string& what, const std::function<bool()>& condition);
  // The newest run that is queued or measured.
  std::string NewestRun() const;

  TempDir dir_;
  std::vector<std::string> more_environment_;  // NAME=value, for the daemon alone
  std::vector<std::string> prefix_;            // a command that starts the daemon's
  std::string address_ = "unix:" + dir_.File("d.sock");

 private:
  std::unique_ptr<Process> daemon_;
  std::string out_;
  std::string err_;
};

}  // namespace tinyprof::e2e
