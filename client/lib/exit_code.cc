#include "client/lib/exit_code.h"

namespace tinyprof::client {
namespace {

// Of all that may run out, these alone are found while something runs; a full queue, a model or a
// file that is too large are found before.
bool EndedAWorker(const Error& error) {
  return error.reason == "OUT_OF_MEMORY" || error.reason == "WORKER_KILLED" ||
         error.reason == "SPAWN_FAILED" || error.reason == "RESULT_NOT_KEPT";
}

// What the caller gave was fit until something ran, or until what came of it was to be written.
bool EndedARun(const Error& error) {
  return error.reason == "NOT_FINITE" || error.reason == "FILE_NOT_WRITABLE";
}

}  // namespace

ExitCode ExitCodeFor(const Error& error) {
  if (EndedARun(error)) return ExitCode::kRunFailed;
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kOutOfRange:
      return ExitCode::kUsage;
    case ErrorCode::kUnavailable:
      // The daemon was reached, and its disk was not.
      return error.reason == "STORE_UNAVAILABLE" ? ExitCode::kPrecondition : ExitCode::kUnreachable;
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnauthenticated:
      return ExitCode::kRefused;
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kUnimplemented:
      return ExitCode::kPrecondition;
    case ErrorCode::kResourceExhausted:
      return EndedAWorker(error) ? ExitCode::kRunFailed : ExitCode::kPrecondition;
    case ErrorCode::kDeadlineExceeded:
      return ExitCode::kTimeout;
    case ErrorCode::kCancelled:
      return error.reason == "INTERRUPTED" ? ExitCode::kInterrupted : ExitCode::kRunFailed;
    case ErrorCode::kAborted:
    case ErrorCode::kDataLoss:
    case ErrorCode::kInternal:
      break;
  }
  return ExitCode::kRunFailed;
}

const char* CodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case ErrorCode::kNotFound:
      return "NOT_FOUND";
    case ErrorCode::kAlreadyExists:
      return "ALREADY_EXISTS";
    case ErrorCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case ErrorCode::kUnauthenticated:
      return "UNAUTHENTICATED";
    case ErrorCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case ErrorCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case ErrorCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case ErrorCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case ErrorCode::kUnavailable:
      return "UNAVAILABLE";
    case ErrorCode::kAborted:
      return "ABORTED";
    case ErrorCode::kCancelled:
      return "CANCELLED";
    case ErrorCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case ErrorCode::kDataLoss:
      return "DATA_LOSS";
    case ErrorCode::kInternal:
      break;
  }
  return "INTERNAL";
}

}  // namespace tinyprof::client
