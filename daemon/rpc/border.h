// Where a call enters the daemon: errors become statuses, exceptions end here, refusals are logged.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <exception>
#include <string_view>

#include "daemon/ops/log.h"
#include "daemon/rpc/status_mapping.h"
#include "kernels/base/error.h"

namespace tinyprof {

// Shared by the services. Thread-safe.
class Border {
 public:
  // `logger` must outlive the border.
  explicit Border(const Logger& logger) : logger_(logger) {}

  // Runs `call`, which returns a Status.
  template <class Call>
  grpc::Status Enter(std::string_view method, Call&& call) {
    try {
      const Status status = call();
      return status ? grpc::Status::OK : Refuse(method, status.error());
    } catch (const std::exception& exception) {
      return Unexpected(method, exception.what());
    } catch (...) {
      return Unexpected(method, "an exception of unknown type");
    }
  }

  // The same for a call that waits. Few enough may wait at a time that the threads left over can
  // always serve the calls that do not, such as CancelRun: RESOURCE_EXHAUSTED / "TOO_MANY_WAITING".
  template <class Call>
  grpc::Status EnterWaiting(std::string_view method, Call&& call) {
    const Slot slot(waiting_);
    if (!slot.free()) return Refuse(method, TooManyWaiting());
    return Enter(method, call);
  }

  static constexpr int kMaxWaitingCalls = 64;

 private:
  class Slot {
   public:
    explicit Slot(std::atomic<int>& taken) : taken_(taken), index_(taken++) {}
    ~Slot() { --taken_; }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    bool free() const { return index_ < kMaxWaitingCalls; }

   private:
    std::atomic<int>& taken_;
    int index_;
  };

  grpc::Status Refuse(std::string_view method, const Error& error) const;
  grpc::Status Unexpected(std::string_view method, std::string_view what) const;
  static Error TooManyWaiting();

  const Logger& logger_;
  std::atomic<int> waiting_ = 0;
};

}  // namespace tinyprof
