#include "daemon/rpc/border.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace tinyprof {
namespace {

class BorderTest : public testing::Test {
 protected:
  ~BorderTest() override { close(null_fd_); }
  int null_fd_ = open("/dev/null", O_WRONLY | O_CLOEXEC);
  Logger logger_{null_fd_, LogFormat::kText, LogLevel::kInfo};
  Border border_{logger_};
};

TEST_F(BorderTest, PassesSuccessAndErrors) {
  EXPECT_TRUE(border_.Enter("M", [] { return Status{}; }).ok());
  const grpc::Status refused = border_.Enter(
      "M", []() -> Status { return Fail(ErrorCode::kNotFound, "R", "there is no such thing"); });
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refused.error_message(), "there is no such thing");
}

TEST_F(BorderTest, ExceptionsEndHereWithoutTheirText) {
  const grpc::Status status =
      border_.Enter("M", []() -> Status { throw std::runtime_error("/secret/path"); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message().find("secret"), std::string::npos);
  EXPECT_EQ(border_.Enter("M", []() -> Status { throw 7; }).error_code(),
            grpc::StatusCode::INTERNAL);
}

// Nests as many waiting calls as there may be; the innermost finds none left.
TEST_F(BorderTest, LimitsTheCallsThatWait) {
  int entered = 0;
  grpc::Status innermost;
  std::function<Status()> wait = [&]() -> Status {
    ++entered;
    const grpc::Status status = border_.EnterWaiting("M", wait);
    if (!status.ok()) innermost = status;
    return {};
  };
  EXPECT_TRUE(border_.EnterWaiting("M", wait).ok());
  EXPECT_EQ(entered, Border::kMaxWaitingCalls);
  EXPECT_EQ(innermost.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  entered = 0;
  EXPECT_TRUE(border_.EnterWaiting("M", [] { return Status{}; }).ok());
}

}  // namespace
}  // namespace tinyprof
