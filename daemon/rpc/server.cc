#include "daemon/rpc/server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "daemon/rpc/border.h"
#include "daemon/rpc/listen_address.h"

namespace tinyprof {
namespace {

constexpr int kMaxReceiveBytes = 4 << 20;
// A call holds a thread; those that wait are limited by Border, so the rest always finds one.
constexpr int kMaxThreads = 2 * Border::kMaxWaitingCalls;
constexpr std::array kHealthNames = {"", "tinyprof.v1.ProfilerService", "tinyprof.v1.ModelService",
                                     "tinyprof.v1.HostService"};

// Clients on one machine need few pings; a dead peer behind a forwarded socket is found in a
// minute.
void SetChannelArguments(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 45'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 15'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 100);
  builder.SetMaxReceiveMessageSize(kMaxReceiveBytes);
}

// No moment in which the new socket is open to more than its owner.
class OwnerOnlyUmask {
 public:
  OwnerOnlyUmask() : previous_(umask(0077)) {}
  ~OwnerOnlyUmask() { umask(previous_); }
  OwnerOnlyUmask(const OwnerOnlyUmask&) = delete;
  OwnerOnlyUmask& operator=(const OwnerOnlyUmask&) = delete;

 private:
  mode_t previous_;
};

Status PrepareAddresses(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses) TINYPROF_RETURN_IF_ERROR(CheckAddress(address));
  for (const std::string& address : addresses) {
    const std::string path = UnixPathOf(address);
    if (!path.empty()) TINYPROF_RETURN_IF_ERROR(PrepareUnixPath(path));
  }
  return {};
}

// Keeps gRPC in use to the end of the process: where it had been refused a thread, its shutdown
// would wait for that thread for ever.
void KeepGrpcRunning() { [[maybe_unused]] static const bool kept = (grpc_init(), true); }

tl::unexpected<Error> CannotBind(std::string_view address) {
  return Fail(
      ErrorCode::kUnavailable, "CANNOT_BIND",
      fmt::format("cannot serve at {}: it is in use, or this user may not bind it", address),
      {{"address", std::string(address)}});
}

}  // namespace

Result<std::unique_ptr<RpcServer>> RpcServer::Start(const ServerOptions& options,
                                                    const std::vector<grpc::Service*>& services) {
  TINYPROF_RETURN_IF_ERROR(PrepareAddresses(options.listen));
  std::unique_ptr<RpcServer> server(new RpcServer);
  TINYPROF_RETURN_IF_ERROR(server->Bind(options, services));
  for (const std::string& address : server->addresses_) {
    const std::string path = UnixPathOf(address);
    if (!path.empty() && chmod(path.c_str(), options.socket_mode) != 0) return CannotBind(address);
  }
  return server;
}

Status RpcServer::Bind(const ServerOptions& options, const std::vector<grpc::Service*>& services) {
  KeepGrpcRunning();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  SetChannelArguments(builder);
  grpc::ResourceQuota quota("tinyprofd");
  quota.SetMaxThreads(kMaxThreads);
  builder.SetResourceQuota(quota);
  // One address of several is as good as all: the server is built with all of them or not at all.
  std::vector<int> ports(options.listen.size(), 0);
  for (size_t i = 0; i < ports.size(); ++i) {
    for (const std::string& address : BindAddressesOf(options.listen[i])) {
      builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &ports[i]);
    }
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  {
    const OwnerOnlyUmask owner_only;
    server_ = builder.BuildAndStart();
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string& address = options.listen[i];
    if (!server_ || ports[i] <= 0) return CannotBind(address);
    const bool is_unix = !UnixPathOf(address).empty();
    addresses_.push_back(
        is_unix ? address : fmt::format("{}:{}", address.substr(0, address.rfind(':')), ports[i]));
  }
  SetServing(false);
  return {};
}

RpcServer::~RpcServer() {
  if (server_) Shutdown(std::chrono::milliseconds(0));
}

void RpcServer::SetServing(bool serving) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  for (const char* name : kHealthNames) health->SetServingStatus(name, serving);
}

void RpcServer::Shutdown(std::chrono::milliseconds grace) {
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
}

}  // namespace tinyprof
