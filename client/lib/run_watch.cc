#include "client/lib/run_watch.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "client/lib/rpc_error.h"

namespace tinyprof::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kCancelGrace = std::chrono::seconds(5);
constexpr auto kReattachDelay = std::chrono::milliseconds(300);
constexpr int kMaxReattach = 3;

// What the stream's thread and the signal thread leave for the caller's thread.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<v1::Run> latest;
  std::optional<grpc::Status> finished;
  bool interrupted = false;

  void Interrupt() {
    const std::lock_guard lock(mutex);
    interrupted = true;
    changed.notify_one();
  }
};

// One WatchRun call, read on a thread of its own. Ends the call and the thread when destroyed.
class Stream {
 public:
  Stream(Connection& connection, const std::string& id, Mailbox& mailbox) : mailbox_(mailbox) {
    request_.set_id(id);
    reader_ = connection.profiler().WatchRun(&context_, request_);
    thread_ = std::thread([this] { ReadAll(); });
  }
  ~Stream() {
    context_.TryCancel();
    thread_.join();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

 private:
  void ReadAll() {
    v1::WatchRunResponse response;
    while (reader_->Read(&response)) {
      const std::lock_guard lock(mailbox_.mutex);
      mailbox_.latest = std::move(*response.mutable_run());
      mailbox_.changed.notify_one();
    }
    grpc::Status status = reader_->Finish();
    const std::lock_guard lock(mailbox_.mutex);
    mailbox_.finished = std::move(status);
    mailbox_.changed.notify_one();
  }

  Mailbox& mailbox_;
  grpc::ClientContext context_;
  v1::WatchRunRequest request_;
  std::unique_ptr<grpc::ClientReader<v1::WatchRunResponse>> reader_;
  std::thread thread_;
};

class Watcher {
 public:
  Watcher(Connection& connection, std::string id, Mailbox& mailbox, const WatchOptions& options)
      : connection_(connection), id_(std::move(id)), mailbox_(mailbox), options_(options) {
    outcome_.run.set_id(id_);
    if (options.timeout) deadline_ = Clock::now() + *options.timeout;
  }

  Result<WatchOutcome> Follow() {
    std::optional<Stream> stream(std::in_place, connection_, id_, mailbox_);
    while (true) {
      const Event event = Wait();
      if (event.latest) Report(*event.latest);
      if (HasEnded(outcome_.run.state()) || event.timed_out_waiting_for_cancel) return outcome_;
      if (event.finished) {
        TINYPROF_RETURN_IF_ERROR(MayReattach(*event.finished));
        stream.emplace(connection_, id_, mailbox_);
      }
      if ((event.interrupted || event.timed_out) && Stop(event.interrupted)) return outcome_;
    }
  }

 private:
  struct Event {
    std::optional<v1::Run> latest;
    std::optional<grpc::Status> finished;
    bool interrupted = false;
    bool timed_out = false;
    bool timed_out_waiting_for_cancel = false;
  };

  Event Wait() {
    std::unique_lock lock(mailbox_.mutex);
    const auto ready = [this] {
      return mailbox_.latest || mailbox_.finished || (mailbox_.interrupted && !stopping_);
    };
    Event event;
    if (!deadline_) {
      mailbox_.changed.wait(lock, ready);
    } else if (!mailbox_.changed.wait_until(lock, *deadline_, ready)) {
      (stopping_ ? event.timed_out_waiting_for_cancel : event.timed_out) = true;
    }
    event.latest = std::exchange(mailbox_.latest, std::nullopt);
    event.finished = std::exchange(mailbox_.finished, std::nullopt);
    event.interrupted = mailbox_.interrupted && !stopping_;
    return event;
  }

  void Report(const v1::Run& run) {
    outcome_.run = run;
    reattached_ = 0;
    if (options_.on_progress) options_.on_progress(run);
  }

  // OK when the stream broke and may be taken up again.
  Status MayReattach(const grpc::Status& status) {
    const bool dropped = status.ok() || status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                         status.error_code() == grpc::StatusCode::CANCELLED;
    if (!dropped) return tl::unexpected(FromRpcStatus(status, connection_.address().target));
    if (++reattached_ > kMaxReattach) {
      return tl::unexpected(DaemonWentAway(id_, connection_.address().target));
    }
    std::this_thread::sleep_for(kReattachDelay);
    return {};
  }

  // True when there is nothing left to wait for.
  bool Stop(bool interrupted) {
    stopping_ = true;
    (interrupted ? outcome_.interrupted : outcome_.timed_out) = true;
    const std::string cause = interrupted
                                  ? "interrupted"
                                  : fmt::format("the timeout of {} is over", options_.timeout_text);
    if (!options_.cancel_run) {
      Notice(fmt::format("{}; the run {} goes on", cause, id_));
      return true;
    }
    Notice(fmt::format("{}; cancelling the run {}{}", cause, id_,
                       interrupted ? " (Ctrl-C again leaves at once)" : ""));
    v1::CancelRunRequest request;
    request.set_id(id_);
    auto response =
        connection_.Call(connection_.profiler(), &Connection::Profiler::CancelRun, request);
    if (!response) {
      Notice(fmt::format("the run {} could not be cancelled: {}", id_, response.error().message));
      return true;
    }
    outcome_.run = std::move(*response->mutable_run());
    deadline_ = Clock::now() + kCancelGrace;
    return HasEnded(outcome_.run.state());
  }

  void Notice(const std::string& sentence) {
    if (options_.on_notice) options_.on_notice(sentence);
  }

  Connection& connection_;
  const std::string id_;
  Mailbox& mailbox_;
  const WatchOptions& options_;
  WatchOutcome outcome_;
  std::optional<Clock::time_point> deadline_;
  int reattached_ = 0;
  bool stopping_ = false;
};

std::string MakeRequestId() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace

bool HasEnded(v1::RunState state) {
  return state == v1::RUN_STATE_SUCCEEDED || state == v1::RUN_STATE_FAILED ||
         state == v1::RUN_STATE_CANCELLED;
}

Result<WatchOutcome> WatchToEnd(Connection& connection, const std::string& id,
                                Interrupts& interrupts, const WatchOptions& options) {
  Mailbox mailbox;
  const Interrupts::Armed armed(interrupts, [&mailbox] { mailbox.Interrupt(); });
  return Watcher(connection, id, mailbox, options).Follow();
}

Result<WatchOutcome> RunToEnd(Connection& connection, const v1::RunSpec& spec,
                              Interrupts& interrupts, const WatchOptions& options) {
  Mailbox mailbox;
  const Interrupts::Armed armed(interrupts, [&mailbox] { mailbox.Interrupt(); });
  v1::StartRunRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(MakeRequestId());
  TINYPROF_ASSIGN_OR_RETURN(
      const v1::StartRunResponse response,
      connection.Call(connection.profiler(), &Connection::Profiler::StartRun, request));
  return Watcher(connection, response.run().id(), mailbox, options).Follow();
}

}  // namespace tinyprof::client
