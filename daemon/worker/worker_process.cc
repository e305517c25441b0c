#include "daemon/worker/worker_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "daemon/worker/child.h"
#include "daemon/worker/frame.h"
#include "daemon/worker/protocol.h"
#include "daemon/worker/spawn.h"
#include "daemon/worker/worker_exit.h"

namespace tinyprof {
namespace {

constexpr size_t kStderrTailBytes = 4096;
// A worker reads its request before it does anything else; one that does not is broken.
constexpr std::chrono::seconds kRequestDeadline{30};

// The daemon's side of one task's conversation with its worker.
class Conversation {
 public:
  Conversation(const WorkerTask& task, const ProgressFn& on_progress, SpawnedWorker worker)
      : task_(task),
        on_progress_(on_progress),
        socket_(std::move(worker.socket)),
        stderr_pipe_(std::move(worker.stderr_pipe)),
        child_(worker.pid) {}

  Result<worker::WorkerEvent> Run(std::chrono::milliseconds grace, const std::stop_token& cancel);

 private:
  enum class Next { kGoOn, kOutcome, kEndOfStream };

  Status SendRequest();
  // Reads events until the outcome or the end of the stream.
  Status Listen(const std::stop_token& cancel);
  Result<Next> ReadEvents();
  Result<Next> Handle(worker::WorkerEvent event);
  void ReadStderr();
  Result<worker::WorkerEvent> Conclude(std::chrono::milliseconds grace);
  Error WithLayer(Error error) const;

  const WorkerTask& task_;
  const ProgressFn& on_progress_;
  UniqueFd socket_;
  UniqueFd stderr_pipe_;
  Child child_;
  FrameDecoder decoder_;
  std::optional<worker::WorkerEvent> outcome_;
  std::string layer_;
  std::string stderr_tail_;
};

Result<worker::WorkerEvent> Conversation::Run(std::chrono::milliseconds grace,
                                              const std::stop_token& cancel) {
  Status status = SendRequest();
  // A worker that died at once is explained by how it ended, not by the closed socket.
  if (status.has_value() || status.error().reason == "PEER_GONE") status = Listen(cancel);
  if (!status.has_value()) {
    child_.Stop(grace);
    ReadStderr();
    return tl::unexpected(WithLayer(std::move(status).error()));
  }
  return Conclude(grace);
}

Status Conversation::SendRequest() {
  const SteadyTime deadline =
      std::min(task_.deadline, std::chrono::steady_clock::now() + kRequestDeadline);
  return SendFrame(socket_.get(), task_.request, deadline);
}

Status Conversation::Listen(const std::stop_token& cancel) {
  const UniqueFd wake_up(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_up.valid()) {
    return Fail(ErrorCode::kResourceExhausted, "SPAWN_FAILED",
                "the system has no descriptor left to watch a worker with");
  }
  const std::stop_callback on_cancel(cancel, [&] { ::eventfd_write(wake_up.get(), 1); });
  while (true) {
    std::array<pollfd, 3> waiting{
        {{socket_.get(), POLLIN, 0}, {wake_up.get(), POLLIN, 0}, {stderr_pipe_.get(), POLLIN, 0}}};
    ::poll(waiting.data(), waiting.size(), PollTimeoutMs(task_.deadline));
    if (cancel.stop_requested()) {
      return Fail(ErrorCode::kCancelled, "CANCELLED", "the task was cancelled");
    }
    ReadStderr();
    TINYPROF_ASSIGN_OR_RETURN(const Next next, ReadEvents());
    if (next != Next::kGoOn) return {};
    if (std::chrono::steady_clock::now() >= task_.deadline) {
      const bool has_model = !task_.request.has_counters() && !task_.request.has_diagnosis();
      return Fail(ErrorCode::kDeadlineExceeded, "TIMEOUT",
                  has_model
                      ? "the task did not end in its time: allow more time or use a smaller model"
                      : "the worker did not end in its time: something that it asked for hangs");
    }
  }
}

Result<Conversation::Next> Conversation::ReadEvents() {
  std::array<char, 65536> chunk;
  while (true) {
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Next::kGoOn;
    if (got <= 0) return Next::kEndOfStream;
    decoder_.Append({chunk.data(), static_cast<size_t>(got)});
    while (true) {
      worker::WorkerEvent event;
      const Result<bool> whole = decoder_.Next(event);
      if (!whole.has_value()) {
        return Fail(ErrorCode::kInternal, "WORKER_PROTOCOL", whole.error().message);
      }
      if (!*whole) break;
      TINYPROF_ASSIGN_OR_RETURN(const Next next, Handle(std::move(event)));
      if (next != Next::kGoOn) return next;
    }
  }
}

Result<Conversation::Next> Conversation::Handle(worker::WorkerEvent event) {
  switch (event.event_case()) {
    case worker::WorkerEvent::kProgress:
      if (on_progress_) on_progress_(event.progress());
      return Next::kGoOn;
    case worker::WorkerEvent::kEnteredLayer:
      layer_ = event.entered_layer();
      return Next::kGoOn;
    case worker::WorkerEvent::EVENT_NOT_SET:
      return Fail(ErrorCode::kInternal, "WORKER_PROTOCOL", "the worker sent an empty event");
    default:
      outcome_ = std::move(event);
      return Next::kOutcome;
  }
}

void Conversation::ReadStderr() {
  std::array<char, 4096> chunk;
  while (stderr_pipe_.valid()) {
    const ssize_t got = ::read(stderr_pipe_.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) stderr_pipe_.Close();
    if (got <= 0) return;
    stderr_tail_.append(chunk.data(), static_cast<size_t>(got));
    if (stderr_tail_.size() > kStderrTailBytes) {
      stderr_tail_.erase(0, stderr_tail_.size() - kStderrTailBytes);
    }
  }
}

Result<worker::WorkerEvent> Conversation::Conclude(std::chrono::milliseconds grace) {
  std::optional<Child::Exit> exit = child_.WaitUntil(std::chrono::steady_clock::now() + grace);
  const bool hung = !exit.has_value();
  if (hung) exit = child_.Stop(grace);
  ReadStderr();
  if (outcome_ && outcome_->has_error()) {
    return tl::unexpected(WithLayer(FromProto(outcome_->error())));
  }
  if (outcome_) return *std::move(outcome_);
  if (hung) {
    return tl::unexpected(WithLayer({ErrorCode::kInternal, "WORKER_PROTOCOL",
                                     "the worker closed its socket without a result"}));
  }
  return tl::unexpected(ExplainExit({.wait_status = exit->wait_status,
                                     .max_resident_bytes = exit->max_resident_bytes,
                                     .memory_limit_bytes = task_.request.memory_limit_bytes(),
                                     .layer = layer_,
                                     .stderr_tail = stderr_tail_}));
}

Error Conversation::WithLayer(Error error) const {
  if (!layer_.empty()) error.metadata.emplace("layer", layer_);
  if (!stderr_tail_.empty()) error.metadata.emplace("stderr", stderr_tail_);
  return error;
}

}  // namespace

Result<worker::WorkerEvent> WorkerProcess::Run(const WorkerTask& task,
                                               const ProgressFn& on_progress,
                                               std::stop_token cancel) {
  std::string path = options_.worker_path;
  if (path.empty()) {
    TINYPROF_ASSIGN_OR_RETURN(path, DefaultWorkerPath());
  }
  TINYPROF_ASSIGN_OR_RETURN(SpawnedWorker worker, SpawnWorker(path, task.model_fd, task.output_fd));
  Conversation conversation(task, on_progress, std::move(worker));
  return conversation.Run(options_.stop_grace, cancel);
}

}  // namespace tinyprof
