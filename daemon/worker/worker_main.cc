// tinyprof-worker: reads one request from the daemon's socket, shuts itself in, does the task,
// sends the outcome. Started by WorkerProcess, never by a person.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <vector>

#include "daemon/counters/events_off.h"
#include "daemon/worker/event_sender.h"
#include "daemon/worker/frame.h"
#include "daemon/worker/protocol.h"
#include "daemon/worker/sandbox.h"
#include "daemon/worker/tasks.h"
#include "kernels/runtime/team.h"

namespace tinyprof {
namespace {

constexpr std::chrono::seconds kRequestDeadline{30};
constexpr int kUsageExitCode = 2;

Result<int64_t> ModelFileBytes(const worker::WorkerRequest& request) {
  if (!request.has_model_file()) return 0;
  struct stat file {};
  if (::fstat(kModelFd, &file) == 0) return int64_t{file.st_size};
  return Fail(ErrorCode::kInternal, "WORKER_PROTOCOL", "the daemon gave the worker no model file");
}

Status Prepare(const worker::WorkerRequest& request) {
  TINYPROF_ASSIGN_OR_RETURN(const int64_t model_file_bytes, ModelFileBytes(request));
  if (request.has_events_off()) {
    const worker::EventsOff& off = request.events_off();
    TurnEventsOff({off.reason(), off.sentence(), off.fix()});
  }
  StartTeamRuntime();
  // These must see the system calls that the daemon has, and take no model from outside.
  const bool is_filtered = !request.has_counters() && !request.has_diagnosis();
  TINYPROF_RETURN_IF_ERROR(
      EnterSandbox({.address_space_bytes = AddressSpaceFor(request.memory_limit_bytes(),
                                                           request.cpus_size(), model_file_bytes),
                    .filter_system_calls = is_filtered}));
  if (request.cpus().empty()) return {};
  return PinTeam(std::vector<int>(request.cpus().begin(), request.cpus().end()),
                 request.cpus_size());
}

Result<worker::WorkerEvent> RunTask(const worker::WorkerRequest& request, EventSender& sender) {
  TINYPROF_RETURN_IF_ERROR(Prepare(request));
  switch (request.task_case()) {
    case worker::WorkerRequest::kProfile:
      return RunProfileTask(request, sender);
    case worker::WorkerRequest::kRoofline:
      return RunRooflineTask(request, sender);
    case worker::WorkerRequest::kCounters:
      return RunCountersTask();
    case worker::WorkerRequest::kDiagnosis:
      return RunDiagnosisTask(request.diagnosis());
    case worker::WorkerRequest::kVerify:
      return RunVerifyTask(request);
    case worker::WorkerRequest::kQuantize:
      return RunQuantizeTask(request, sender);
    case worker::WorkerRequest::kAnalyze:
      return RunAnalyzeTask(request);
    case worker::WorkerRequest::TASK_NOT_SET:
      break;
  }
  return Fail(ErrorCode::kInternal, "WORKER_PROTOCOL", "the daemon asked for no task");
}

// No exception leaves a task, whatever a library throws.
Result<worker::WorkerEvent> RunTaskSafely(const worker::WorkerRequest& request,
                                          EventSender& sender) {
  try {
    return RunTask(request, sender);
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kResourceExhausted, "OUT_OF_MEMORY",
                "the worker ran out of the memory it is allowed: use a smaller model or batch");
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInternal, "UNEXPECTED",
                fmt::format("the worker met an unexpected error: {}", error.what()));
  }
}

int Main() {
  worker::WorkerRequest request;
  const Status received =
      ReceiveFrame(kSocketFd, request, std::chrono::steady_clock::now() + kRequestDeadline);
  if (!received.has_value()) {
    fmt::print(stderr, "tinyprof-worker is started by tinyprofd: {}\n", received.error().message);
    return kUsageExitCode;
  }
  EventSender sender(kSocketFd);
  sender.Outcome(RunTaskSafely(request, sender));
  return 0;
}

}  // namespace
}  // namespace tinyprof

int main() {
  // Without destructors: the memory of a large model goes faster with the process.
  ::_exit(tinyprof::Main());
}
