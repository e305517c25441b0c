// A worker that does what the model's name in its request tells it to.
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "daemon/worker/frame.h"
#include "daemon/worker/protocol.h"

namespace tinyprof {
namespace {

constexpr SteadyTime kNoDeadline = SteadyTime::max();

void Send(const worker::WorkerEvent& event) {
  if (!SendFrame(kSocketFd, event, kNoDeadline)) std::exit(9);
}

void SendProgress(const std::string& phase, int done) {
  worker::WorkerEvent event;
  event.mutable_progress()->set_phase(phase);
  event.mutable_progress()->set_done(done);
  Send(event);
}

void EnterLayer(const std::string& layer) {
  worker::WorkerEvent event;
  event.set_entered_layer(layer);
  Send(event);
}

void SendReport(const std::string& isa) {
  worker::WorkerEvent event;
  event.mutable_report()->set_isa(isa);
  Send(event);
}

[[noreturn]] void Hang() {
  while (true) std::this_thread::sleep_for(std::chrono::seconds(60));
}

// The open descriptors, as "0 1 2 3 ", without the one that reads the folder.
std::string OpenDescriptors() {
  std::string list;
  DIR* folder = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name[0] != '.' && name != std::to_string(::dirfd(folder))) list += name + " ";
  }
  ::closedir(folder);
  return list;
}

std::string ReadModel() {
  char bytes[64];
  const ssize_t got = ::read(kModelFd, bytes, sizeof bytes);
  return got < 0 ? "none" : std::string(bytes, static_cast<size_t>(got));
}

void SendGarbage() {
  const char bytes[] = "\xff\xff\xff\xff";
  if (::write(kSocketFd, bytes, 4) != 4) std::exit(9);
}

void SendError() {
  worker::WorkerEvent event;
  *event.mutable_error() =
      ToProto({ErrorCode::kFailedPrecondition, "SOME_REASON", "a sentence", {{"key", "value"}}});
  Send(event);
}

int Act(const std::string& action) {
  if (action == "succeed") {
    SendProgress("timing", 1);
    SendProgress("timing", 2);
    SendReport("avx2");
  } else if (action == "segfault") {
    EnterLayer("conv1");
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  } else if (action == "segfault after layers") {
    EnterLayer("conv1");
    EnterLayer("");
    ::raise(SIGSEGV);
  } else if (action == "sigkill") {
    ::raise(SIGKILL);
  } else if (action == "exit 3") {
    std::fputs("no more threads\n", stderr);
    return 3;
  } else if (action == "silent exit") {
    return 0;
  } else if (action == "hang") {
    EnterLayer("conv2");
    SendProgress("timing", 1);
    Hang();
  } else if (action == "hang and ignore SIGTERM") {
    ::signal(SIGTERM, SIG_IGN);
    SendProgress("timing", 1);
    Hang();
  } else if (action == "close socket and hang") {
    ::close(kSocketFd);
    Hang();
  } else if (action == "report and hang") {
    SendReport("avx2");
    Hang();
  } else if (action == "garbage") {
    SendGarbage();
    Hang();
  } else if (action == "empty event") {
    Send({});
    Hang();
  } else if (action == "error") {
    SendError();
  } else if (action == "chatter") {
    for (int i = 0; i < 100'000; ++i) std::fputs("noise noise noise\n", stderr);
    std::fputs("the end\n", stderr);
    return 4;
  } else if (action == "descriptors") {
    SendReport(OpenDescriptors());
  } else if (action == "model") {
    SendReport(ReadModel());
  }
  return 0;
}

}  // namespace
}  // namespace tinyprof

int main() {
  using namespace tinyprof;
  worker::WorkerRequest request;
  if (!ReceiveFrame(kSocketFd, request, kNoDeadline)) return 8;
  return Act(request.profile().model().text());
}
