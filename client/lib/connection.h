// A connection to tinyprofd: the stubs, and one way to make a unary call with deadline, retry and
// readable errors. Safe to use from several threads.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/lib/address.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof::client {

class Connection {
 public:
  using Profiler = v1::ProfilerService::Stub;
  using Models = v1::ModelService::Stub;
  using Hosts = v1::HostService::Stub;

  // Connects at the first call. `call_timeout` bounds each unary call, `stream_timeout` the calls
  // that carry a file, which take as long as the file is large.
  Connection(Address address, std::chrono::nanoseconds call_timeout,
             std::optional<std::chrono::nanoseconds> stream_timeout = std::nullopt);

  const Address& address() const { return address_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  std::chrono::nanoseconds call_timeout() const { return call_timeout_; }
  Profiler& profiler() { return *profiler_; }
  Models& models() { return *models_; }
  Hosts& hosts() { return *hosts_; }

  // Calls `method` of `stub`. UNAVAILABLE is tried again, twice: every method called this way may
  // be repeated (StartRun by its request_id).
  template <class Stub, class Request, class Response>
  Result<Response> Call(Stub& stub,
                        grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                     Response*),
                        const Request& request) {
    Response response;
    TINYPROF_RETURN_IF_ERROR(WithRetry([&](grpc::ClientContext& context) {
      return (stub.*method)(&context, request, &response);
    }));
    return response;
  }

  // Gives `context` the deadline of a unary call.
  void SetDeadline(grpc::ClientContext& context) const;
  // Gives `context` the deadline of a call that carries a file, if there is one.
  void SetStreamDeadline(grpc::ClientContext& context) const;

 private:
  Status WithRetry(const std::function<grpc::Status(grpc::ClientContext&)>& call) const;

  const Address address_;
  const std::chrono::nanoseconds call_timeout_;
  const std::optional<std::chrono::nanoseconds> stream_timeout_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Profiler> profiler_;
  std::unique_ptr<Models> models_;
  std::unique_ptr<Hosts> hosts_;
};

// SERVING or not, by the standard health service; errors as for every call.
Result<bool> IsServing(Connection& connection);

}  // namespace tinyprof::client
