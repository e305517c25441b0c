// tinyprof-client: wires the program to the real streams, terminal, environment and signals.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/commands/app.h"
#include "client/lib/exit_code.h"
#include "client/lib/interrupts.h"
#include "kernels/base/resource_limits.h"

namespace {

namespace client = tinyprof::client;

// gRPC aborts below some ten descriptors.
constexpr tinyprof::ResourceNeeds kNeeds{.open_files = 16};

int ColumnsOf(int descriptor) {
  winsize size = {};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::optional<std::string> GetEnv(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Keeps descriptors 0 to 2 from being given to a socket, which would then get what we print. What
// is opened for a closed output cannot be written, so that printing there still fails.
void FillClosedStreams() {
  while (true) {
    const int descriptor = open("/dev/null", O_RDONLY);
    if (descriptor > STDERR_FILENO) close(descriptor);
    if (descriptor < 0 || descriptor > STDERR_FILENO) return;
  }
}

// Leaves a half-written progress line behind and ends without waiting for any thread.
void LeaveAtOnce() {
  if (isatty(STDERR_FILENO) != 0) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, "\n", 1);
  }
  _exit(static_cast<int>(client::ExitCode::kInterrupted));
}

}  // namespace

int main(int argc, char** argv) {
  FillClosedStreams();
  if (const tinyprof::Status limits = tinyprof::CheckResourceLimits("tinyprof-client", kNeeds);
      !limits.has_value()) {
    std::cerr << "tinyprof-client: " << limits.error().message << "\n";
    return static_cast<int>(client::ExitCodeFor(limits.error()));
  }
  // What gRPC logs of its own is no use to the reader; our messages carry what matters.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  client::Interrupts interrupts(LeaveAtOnce);
  client::WatchSignals(interrupts);
  client::Io io{std::cout,
                std::cerr,
                interrupts,
                GetEnv,
                isatty(STDOUT_FILENO) != 0,
                isatty(STDERR_FILENO) != 0,
                ColumnsOf(STDOUT_FILENO),
                ColumnsOf(STDERR_FILENO),
                geteuid() == 0};
  const client::ExitCode code =
      client::RunClient(std::vector<std::string>(argv + 1, argv + argc), io);
  // The signal thread still waits; leaving through exit() would tear down what it refers to.
  std::cout.flush();
  std::cerr.flush();
  _exit(static_cast<int>(code));
}
