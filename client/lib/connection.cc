#include "client/lib/connection.h"

#include <google/protobuf/wrappers.pb.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <array>
#include <future>
#include <thread>
#include <utility>

#include "client/lib/rpc_error.h"

namespace tinyprof::client {
namespace {

using std::chrono::milliseconds;

constexpr std::array kRetryDelays = {milliseconds(100), milliseconds(300)};
// A report of a thousand layers is a few MiB; gRPC's default limit is 4 MiB.
constexpr int kMaxReceiveBytes = 64 << 20;
// Longest wait for a server to answer to a new connection. gRPC's own 20 s look like a hang; a
// daemon that is alive answers in milliseconds, even across a network.
constexpr int kConnectTimeoutMs = 5000;

void SetDeadlineIn(grpc::ClientContext& context, std::chrono::nanoseconds time) {
  using std::chrono::system_clock;
  context.set_deadline(system_clock::now() +
                       std::chrono::duration_cast<system_clock::duration>(time));
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  // WithRetry decides; gRPC's own retries would hide a started run.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // The name says little: this is the time one attempt to connect is given.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // A lab machine is reached directly; a proxy for the web would only break that.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

Connection::Connection(Address address, std::chrono::nanoseconds call_timeout,
                       std::optional<std::chrono::nanoseconds> stream_timeout)
    : address_(std::move(address)),
      call_timeout_(call_timeout),
      stream_timeout_(stream_timeout),
      channel_(MakeChannel(address_.target)),
      profiler_(v1::ProfilerService::NewStub(channel_)),
      models_(v1::ModelService::NewStub(channel_)),
      hosts_(v1::HostService::NewStub(channel_)) {}

void Connection::SetDeadline(grpc::ClientContext& context) const {
  SetDeadlineIn(context, call_timeout_);
}

void Connection::SetStreamDeadline(grpc::ClientContext& context) const {
  if (stream_timeout_) SetDeadlineIn(context, *stream_timeout_);
}

Status Connection::WithRetry(const std::function<grpc::Status(grpc::ClientContext&)>& call) const {
  for (size_t attempt = 0;; ++attempt) {
    grpc::ClientContext context;
    SetDeadline(context);
    const grpc::Status status = call(context);
    if (status.ok()) return {};
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE || attempt == kRetryDelays.size()) {
      return tl::unexpected(FromRpcStatus(status, address_.target));
    }
    std::this_thread::sleep_for(kRetryDelays[attempt]);
  }
}

Result<bool> IsServing(Connection& connection) {
  // HealthCheckRequest is a string in field 1 and HealthCheckResponse an enum in field 1: on the
  // wire the same as these two wrappers, so that no second copy of the health protocol is needed.
  using Stub =
      grpc::TemplatedGenericStub<google::protobuf::StringValue, google::protobuf::Int32Value>;
  constexpr int kServing = 1;
  google::protobuf::StringValue request;
  request.set_value("tinyprof.v1.ProfilerService");
  google::protobuf::Int32Value response;
  grpc::ClientContext context;
  connection.SetDeadline(context);
  std::promise<grpc::Status> done;
  Stub stub(connection.channel());
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::StubOptions(), &request, &response,
                 [&done](grpc::Status status) { done.set_value(std::move(status)); });
  const grpc::Status status = done.get_future().get();
  if (!status.ok()) return tl::unexpected(FromRpcStatus(status, connection.address().target));
  return response.value() == kServing;
}

}  // namespace tinyprof::client
