#include "daemon/rpc/status_mapping.h"

#include <string>
#include <string_view>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "kernels/base/utf8.h"

namespace tinyprof {
namespace {

constexpr size_t kMaxMessageBytes = 1024;
constexpr size_t kMaxMetadataBytes = 2048;

grpc::StatusCode ToGrpcCode(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorCode::kNotFound:
      return grpc::StatusCode::NOT_FOUND;
    case ErrorCode::kAlreadyExists:
      return grpc::StatusCode::ALREADY_EXISTS;
    case ErrorCode::kPermissionDenied:
      return grpc::StatusCode::PERMISSION_DENIED;
    case ErrorCode::kUnauthenticated:
      return grpc::StatusCode::UNAUTHENTICATED;
    case ErrorCode::kFailedPrecondition:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case ErrorCode::kResourceExhausted:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ErrorCode::kOutOfRange:
      return grpc::StatusCode::OUT_OF_RANGE;
    case ErrorCode::kUnimplemented:
      return grpc::StatusCode::UNIMPLEMENTED;
    case ErrorCode::kUnavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case ErrorCode::kAborted:
      return grpc::StatusCode::ABORTED;
    case ErrorCode::kCancelled:
      return grpc::StatusCode::CANCELLED;
    case ErrorCode::kDeadlineExceeded:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case ErrorCode::kDataLoss:
      return grpc::StatusCode::DATA_LOSS;
    case ErrorCode::kInternal:
      return grpc::StatusCode::INTERNAL;
  }
  return grpc::StatusCode::INTERNAL;
}

void AddMetadata(const Error& error, google::rpc::ErrorInfo& info) {
  size_t left = kMaxMetadataBytes;
  for (const auto& [key, value] : error.metadata) {
    if (key.size() >= left) return;
    left -= key.size();
    std::string& text = (*info.mutable_metadata())[key];
    text = ValidUtf8(value, left);
    left -= text.size();
  }
}

}  // namespace

grpc::Status ToGrpcStatus(const Error& error) {
  const grpc::StatusCode code = ToGrpcCode(error.code);
  const std::string message = ValidUtf8(error.message, kMaxMessageBytes);
  google::rpc::ErrorInfo info;
  info.set_reason(error.reason);
  info.set_domain("tinyprof");
  AddMetadata(error, info);
  google::rpc::Status details;
  details.set_code(code);
  details.set_message(message);
  details.add_details()->PackFrom(info);
  return grpc::Status(code, message, details.SerializeAsString());
}

}  // namespace tinyprof
