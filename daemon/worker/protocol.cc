#include "daemon/worker/protocol.h"

namespace tinyprof {

worker::WorkerError ToProto(const Error& error) {
  worker::WorkerError message;
  message.set_code(static_cast<int>(error.code));
  message.set_reason(error.reason);
  message.set_message(error.message);
  message.mutable_metadata()->insert(error.metadata.begin(), error.metadata.end());
  return message;
}

Error FromProto(const worker::WorkerError& error) {
  const bool known = error.code() >= 0 && error.code() <= static_cast<int>(ErrorCode::kInternal);
  return {.code = known ? static_cast<ErrorCode>(error.code()) : ErrorCode::kInternal,
          .reason = error.reason(),
          .message = error.message(),
          .metadata = {error.metadata().begin(), error.metadata().end()}};
}

}  // namespace tinyprof
