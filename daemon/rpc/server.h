// The gRPC server: addresses, limits, health and reflection around the services.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

struct ServerOptions {
  std::vector<std::string> listen;
  uint32_t socket_mode = 0660;
};

class RpcServer {
 public:
  // Serves `services`, which must outlive the server. Never takes over an address that somebody
  // else serves at. Errors of CheckAddress and PrepareUnixPath; UNAVAILABLE / "CANNOT_BIND" names
  // the address.
  static Result<std::unique_ptr<RpcServer>> Start(const ServerOptions& options,
                                                  const std::vector<grpc::Service*>& services);
  ~RpcServer();

  // As they can be connected to: port 0 is replaced by the port that was given.
  const std::vector<std::string>& addresses() const { return addresses_; }
  // What the health service says of the server and of each service.
  void SetServing(bool serving);
  // Refuses new calls, cancels those that still run after `grace`, and returns when all have ended.
  void Shutdown(std::chrono::milliseconds grace);

 private:
  RpcServer() = default;
  Status Bind(const ServerOptions& options, const std::vector<grpc::Service*>& services);

  std::vector<std::string> addresses_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tinyprof
