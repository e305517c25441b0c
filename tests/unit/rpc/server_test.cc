#include "daemon/rpc/server.h"

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/ops/temp_dir.h"
#include "tinyprof/v1/service.grpc.pb.h"

namespace tinyprof {
namespace {

// A service without any method of its own: every call is UNIMPLEMENTED.
class ServerTest : public testing::Test {
 protected:
  Result<std::unique_ptr<RpcServer>> Serve(const std::vector<std::string>& listen) {
    return RpcServer::Start({listen, 0640}, {&service_});
  }
  static grpc::StatusCode Call(const std::string& address) {
    const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    grpc::ClientContext context;
    v1::GetHostResponse response;
    return v1::HostService::NewStub(channel)->GetHost(&context, {}, &response).error_code();
  }

  TempDir dir_;
  v1::HostService::Service service_;
};

TEST_F(ServerTest, ServesAtASocketWithItsModeAndRemovesItAtTheEnd) {
  const std::string path = dir_.File("x.sock");
  auto server = Serve({"unix:" + path});
  ASSERT_TRUE(server.has_value()) << server.error().message;
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
  EXPECT_EQ((*server)->addresses(), (std::vector<std::string>{"unix:" + path}));
  EXPECT_EQ(Call("unix:" + path), grpc::StatusCode::UNIMPLEMENTED);
  server->reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ServerTest, ASecondServerDoesNotStealALiveSocket) {
  const std::string address = "unix:" + dir_.File("x.sock");
  const auto first = Serve({address});
  ASSERT_TRUE(first.has_value());
  const auto second = Serve({address});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().reason, "ADDRESS_IN_USE");
  EXPECT_EQ(Call(address), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(ServerTest, ASecondServerDoesNotShareAPort) {
  const auto first = Serve({"127.0.0.1:0"});
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const std::string address = (*first)->addresses()[0];
  EXPECT_NE(address, "127.0.0.1:0");
  const auto second = Serve({address});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().reason, "CANNOT_BIND");
  EXPECT_NE(second.error().message.find(address), std::string::npos);
}

TEST_F(ServerTest, LocalhostIsBothLoopbacks) {
  if (Serve({"[::1]:0"}).has_value() == false) GTEST_SKIP() << "this machine has no IPv6 loopback";
  std::string port;
  {
    const auto free = Serve({"127.0.0.1:0"});
    ASSERT_TRUE(free.has_value()) << free.error().message;
    port = (*free)->addresses()[0].substr(std::string("127.0.0.1:").size());
  }
  const auto server = Serve({"localhost:" + port});
  ASSERT_TRUE(server.has_value()) << server.error().message;
  EXPECT_EQ((*server)->addresses(), (std::vector<std::string>{"localhost:" + port}));
  EXPECT_EQ(Call("127.0.0.1:" + port), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(Call("[::1]:" + port), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(ServerTest, RefusesAnAddressThatOtherMachinesReach) {
  const auto server = Serve({"unix:" + dir_.File("x.sock"), "0.0.0.0:0"});
  ASSERT_FALSE(server.has_value());
  EXPECT_EQ(server.error().reason, "NOT_LOOPBACK");
  EXPECT_FALSE(std::filesystem::exists(dir_.File("x.sock")));
}

}  // namespace
}  // namespace tinyprof
