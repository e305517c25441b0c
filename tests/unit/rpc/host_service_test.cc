#include "daemon/rpc/host_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

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

v1::Check CheckNamed(const v1::DiagnoseResponse& response, const std::string& name) {
  for (const v1::Check& check : response.checks()) {
    if (check.name() == name) return check;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

class DiagnoseTest : public ServiceTest {
 protected:
  v1::DiagnoseResponse Diagnose() {
    grpc::ClientContext context;
    v1::DiagnoseResponse response;
    EXPECT_TRUE(host_->Diagnose(&context, {}, &response).ok());
    return response;
  }
  void Calibrate(bool anew) {
    grpc::ClientContext context;
    v1::ListCountersRequest request;
    request.set_calibrate(anew);
    v1::ListCountersResponse response;
    EXPECT_TRUE(host_->ListCounters(&context, request, &response).ok());
    EXPECT_GT(response.calibrate_time().seconds(), 0);
  }
};

TEST_F(DiagnoseTest, TellsTheGravestFirst) {
  const v1::DiagnoseResponse response = Diagnose();
  // Four of the worker, three of the daemon.
  ASSERT_EQ(response.checks_size(), 7);
  EXPECT_EQ(response.checks(0).state(), v1::CHECK_STATE_FAIL);
  EXPECT_EQ(response.checks(1).state(), v1::CHECK_STATE_WARN);
  EXPECT_EQ(response.checks(2).state(), v1::CHECK_STATE_OK);
  EXPECT_EQ(response.checks(6).state(), v1::CHECK_STATE_SKIP);
}

TEST_F(DiagnoseTest, NeedsNoCalibrationAndSaysWhenTheLastOneWas) {
  EXPECT_EQ(CheckNamed(Diagnose(), "calibration").state(), v1::CHECK_STATE_SKIP);
  Calibrate(false);
  const v1::Check same = CheckNamed(Diagnose(), "calibration");
  EXPECT_EQ(same.state(), v1::CHECK_STATE_SKIP);
  EXPECT_THAT(same.found(), testing::ContainsRegex("of [0-9-]+ [0-9:]+ UTC: NO_PMU: there is no"));
}

TEST_F(DiagnoseTest, ACauseThatHasGoneAwayWantsACalibration) {
  Calibrate(false);
  runner_.counters_usable = true;
  const v1::Check gone = CheckNamed(Diagnose(), "calibration");
  EXPECT_EQ(gone.state(), v1::CHECK_STATE_WARN);
  EXPECT_EQ(gone.fix(), "tinyprof-client counters --calibrate");
  Calibrate(true);
  EXPECT_EQ(CheckNamed(Diagnose(), "calibration").state(), v1::CHECK_STATE_OK);
  runner_.counters_usable = false;
  const v1::Check lost = CheckNamed(Diagnose(), "calibration");
  EXPECT_EQ(lost.state(), v1::CHECK_STATE_WARN);
  EXPECT_EQ(lost.fix(), "tinyprof-client counters --calibrate");
}

TEST_F(DiagnoseTest, AWorkerThatFailsIsACheckAmongTheOthers) {
  runner_.diagnosis_failure =
      Error{ErrorCode::kFailedPrecondition, "SECCOMP", "the worker was ended with SIGSYS", {}};
  v1::DiagnoseResponse response = Diagnose();
  EXPECT_THAT(CheckNamed(response, "seccomp").found(), testing::HasSubstr("SECCOMP: "));
  EXPECT_EQ(CheckNamed(response, "seccomp").state(), v1::CHECK_STATE_FAIL);
  EXPECT_EQ(CheckNamed(response, "worker").state(), v1::CHECK_STATE_FAIL);
  // What needs no event is told all the same.
  EXPECT_THAT(CheckNamed(response, "load").found(), testing::HasSubstr(" on "));
  EXPECT_EQ(CheckNamed(response, "store").state(), v1::CHECK_STATE_OK);

  runner_.diagnosis_failure = Error{ErrorCode::kResourceExhausted,
                                    "SPAWN_FAILED",
                                    "a worker cannot be started: socketpair failed",
                                    {{"errno", std::to_string(EMFILE)}}};
  EXPECT_THAT(CheckNamed(Diagnose(), "worker").fix(), testing::HasSubstr("ulimit -n "));

  runner_.diagnosis_failure = Error{ErrorCode::kFailedPrecondition,
                                    "NO_WORKER",
                                    "/proc/self/exe cannot be read",
                                    {{"fix", "sudo mount -t proc proc /proc"}}};
  EXPECT_EQ(CheckNamed(Diagnose(), "worker").fix(), "sudo mount -t proc proc /proc");

  runner_.diagnosis_failure = Error{ErrorCode::kDeadlineExceeded, "TIMEOUT", "it hangs", {}};
  response = Diagnose();
  EXPECT_THAT(CheckNamed(response, "worker").found(), testing::HasSubstr("it hangs"));
  EXPECT_THAT(CheckNamed(response, "worker").why(), testing::HasSubstr("no command mends that: "));
}

TEST_F(DiagnoseTest, ABrokenStoreIsACheckWithItsRemedy) {
  {
    const auto database = Database::Open(dir_.File("tinyprof.db"));
    ASSERT_TRUE(database.has_value());
    ASSERT_TRUE((*database)->Execute("DROP TABLE counter_reports").has_value());
  }
  const v1::Check check = CheckNamed(Diagnose(), "store");
  EXPECT_EQ(check.state(), v1::CHECK_STATE_FAIL);
  EXPECT_THAT(check.found(), testing::HasSubstr("STORE_CORRUPT: "));
  const std::string file = dir_.File("tinyprof.db");
  EXPECT_EQ(check.fix(), "mv " + file + " " + file + ".damaged");
}

TEST_F(DiagnoseTest, CountersAreCalibratedWhateverTheStoreTakes) {
  const auto database = Database::Open(dir_.File("tinyprof.db"));
  ASSERT_TRUE(database.has_value());
  ASSERT_TRUE((*database)->Execute("DROP TABLE counter_reports").has_value());
  Calibrate(true);
}

}  // namespace
}  // namespace tinyprof
