#include "daemon/rpc/status_mapping.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace tinyprof {
namespace {

google::rpc::ErrorInfo InfoOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), status.error_code());
  EXPECT_EQ(details.message(), status.error_message());
  EXPECT_EQ(details.details_size(), 1);
  google::rpc::ErrorInfo info;
  EXPECT_TRUE(details.details(0).UnpackTo(&info));
  return info;
}

TEST(StatusMapping, HasTheErrorInItsDetails) {
  const grpc::Status status =
      ToGrpcStatus({ErrorCode::kNotFound, "RUN_NOT_FOUND", "there is no run x", {{"id", "x"}}});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "there is no run x");
  const google::rpc::ErrorInfo info = InfoOf(status);
  EXPECT_EQ(info.domain(), "tinyprof");
  EXPECT_EQ(info.reason(), "RUN_NOT_FOUND");
  EXPECT_EQ(info.metadata().at("id"), "x");
}

// The numbers of google.rpc.Code, which are part of gRPC's wire format.
TEST(StatusMapping, EveryCodeHasItsNumber) {
  const std::pair<ErrorCode, int> kNumbers[] = {
      {ErrorCode::kCancelled, 1},         {ErrorCode::kInvalidArgument, 3},
      {ErrorCode::kDeadlineExceeded, 4},  {ErrorCode::kNotFound, 5},
      {ErrorCode::kAlreadyExists, 6},     {ErrorCode::kPermissionDenied, 7},
      {ErrorCode::kResourceExhausted, 8}, {ErrorCode::kFailedPrecondition, 9},
      {ErrorCode::kAborted, 10},          {ErrorCode::kOutOfRange, 11},
      {ErrorCode::kUnimplemented, 12},    {ErrorCode::kInternal, 13},
      {ErrorCode::kUnavailable, 14},      {ErrorCode::kDataLoss, 15},
      {ErrorCode::kUnauthenticated, 16},
  };
  for (const auto& [code, number] : kNumbers) {
    EXPECT_EQ(ToGrpcStatus({code, "R", "m", {}}).error_code(), number);
  }
}

TEST(StatusMapping, FitsInTheMetadataOfACall) {
  Error error{ErrorCode::kInvalidArgument, "LONG", std::string(100'000, 'm'), {}};
  for (int i = 0; i < 50; ++i) error.metadata["key" + std::to_string(i)] = std::string(1000, 'v');
  const grpc::Status status = ToGrpcStatus(error);
  EXPECT_LE(status.error_message().size() + status.error_details().size(), 6000u);
  EXPECT_EQ(InfoOf(status).reason(), "LONG");
}

TEST(StatusMapping, RepairsText) {
  const grpc::Status status =
      ToGrpcStatus({ErrorCode::kInvalidArgument, "R", "bad \xff name", {{"name", "\xff"}}});
  EXPECT_EQ(status.error_message(), "bad ? name");
  EXPECT_EQ(InfoOf(status).metadata().at("name"), "?");
}

}  // namespace
}  // namespace tinyprof
