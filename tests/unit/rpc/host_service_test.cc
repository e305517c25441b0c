#include "daemon/rpc/host_service.h"

#include <gtest/gtest.h>

#include "tests/unit/rpc/service_test_util.h"

namespace tinyprof {
namespace {

using HostServiceTest = ServiceTest;

TEST_F(HostServiceTest, TellsTheHost) {
  grpc::ClientContext context;
  v1::GetHostResponse response;
  ASSERT_TRUE(host_->GetHost(&context, {}, &response).ok());
  EXPECT_EQ(response.host().cpu(), "Test CPU");
}

TEST_F(HostServiceTest, ARooflineIsMeasuredOnceAndKept) {
  v1::GetRooflineResponse response;
  {
    grpc::ClientContext context;
    const grpc::Status status = host_->GetRoofline(&context, {}, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(ReasonOf(status), "NO_ROOFLINE");
  }
  v1::GetRooflineRequest measure;
  measure.set_measure(true);
  {
    grpc::ClientContext context;
    const grpc::Status status = host_->GetRoofline(&context, measure, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.roofline().clock_hz(), 2e9);
  }
  grpc::ClientContext context;
  ASSERT_TRUE(host_->GetRoofline(&context, {}, &response).ok());
  EXPECT_EQ(response.roofline().host().fingerprint(), "0123456789abcdef");
}

TEST_F(HostServiceTest, ListsCountersWithTheReason) {
  grpc::ClientContext context;
  v1::ListCountersResponse response;
  ASSERT_TRUE(host_->ListCounters(&context, {}, &response).ok());
  EXPECT_FALSE(response.counters().usable());
  EXPECT_EQ(response.counters().reason(), "NO_PMU: there is no PMU");
  EXPECT_EQ(response.host().cpu(), "Test CPU");
}

TEST_F(HostServiceTest, CalibratesAnewWhenAsked) {
  const auto usable = [&](bool calibrate) {
    grpc::ClientContext context;
    v1::ListCountersRequest request;
    request.set_calibrate(calibrate);
    v1::ListCountersResponse response;
    EXPECT_TRUE(host_->ListCounters(&context, request, &response).ok());
    return response.counters().usable();
  };
  EXPECT_FALSE(usable(false));
  runner_.counters_usable = true;
  EXPECT_FALSE(usable(false));
  EXPECT_TRUE(usable(true));
  EXPECT_TRUE(usable(false));
}

TEST_F(HostServiceTest, DiagnosesTheGravestFirst) {
  grpc::ClientContext context;
  v1::DiagnoseResponse response;
  ASSERT_TRUE(host_->Diagnose(&context, {}, &response).ok());
  ASSERT_EQ(response.checks_size(), 4);
  EXPECT_EQ(response.checks(0).state(), v1::CHECK_STATE_FAIL);
  EXPECT_EQ(response.checks(1).state(), v1::CHECK_STATE_WARN);
  EXPECT_EQ(response.checks(2).state(), v1::CHECK_STATE_OK);
  EXPECT_EQ(response.checks(3).state(), v1::CHECK_STATE_SKIP);
}

}  // namespace
}  // namespace tinyprof
