#include "daemon/rpc/border.h"

#include <fmt/format.h>

#include <string>

namespace tinyprof {

grpc::Status Border::Refuse(std::string_view method, const Error& error) const {
  // A watcher that left is nothing to report.
  const bool is_quiet = error.code == ErrorCode::kCancelled;
  logger_.Log(is_quiet ? LogLevel::kDebug : LogLevel::kWarn, "call_refused",
              {{"method", std::string(method)},
               {"error.reason", error.reason},
               {"error.message", error.message}});
  return ToGrpcStatus(error);
}

grpc::Status Border::Unexpected(std::string_view method, std::string_view what) const {
  logger_.Log(LogLevel::kError, "call_failed",
              {{"method", std::string(method)}, {"what", std::string(what)}});
  return ToGrpcStatus({ErrorCode::kInternal,
                       "UNEXPECTED",
                       fmt::format("{} failed for a reason that is a defect of tinyprofd; its log "
                                   "has the details",
                                   method),
                       {{"method", std::string(method)}}});
}

Error Border::TooManyWaiting() {
  return {
      ErrorCode::kResourceExhausted,
      "TOO_MANY_WAITING",
      fmt::format("{} calls already wait for runs; try again when one has ended", kMaxWaitingCalls),
      {{"limit", std::to_string(kMaxWaitingCalls)}}};
}

}  // namespace tinyprof
