// The one error type of the project and the result type that carries it.
//
// Functions that can fail for a reason outside our own code return Result<T>; exceptions of
// third-party libraries are caught where the library is called and turned into an Error there.
#pragma once

#include <map>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tinyprof {

// The canonical codes of gRPC (AIP-193), by the same names, so that the rpc layer maps one to one.
enum class ErrorCode {
  kInvalidArgument,
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kUnauthenticated,
  kFailedPrecondition,
  kResourceExhausted,
  kOutOfRange,
  kUnimplemented,
  kUnavailable,
  kAborted,
  kCancelled,
  kDeadlineExceeded,
  kDataLoss,
  kInternal,
};

// What went wrong, for a program (`code`, `reason`, `metadata`) and for a person (`message`).
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string reason;   // UPPER_SNAKE, stable, e.g. "SHAPE_MISMATCH"
  std::string message;  // one sentence that says what to do, without a final stop
  std::map<std::string, std::string> metadata;  // every dynamic part of `message`, by name
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// An Error ready to be returned from a function whose result is any Result<T>.
inline tl::unexpected<Error> Fail(ErrorCode code, std::string reason, std::string message,
                                  std::map<std::string, std::string> metadata = {}) {
  return tl::unexpected<Error>(
      Error{code, std::move(reason), std::move(message), std::move(metadata)});
}

}  // namespace tinyprof

#define TINYPROF_CONCAT_INNER(a, b) a##b
#define TINYPROF_CONCAT(a, b) TINYPROF_CONCAT_INNER(a, b)

// Returns the error of `expression` (a Result of any type) from the enclosing function.
#define TINYPROF_RETURN_IF_ERROR(expression)                                        \
  do {                                                                              \
    if (auto tinyprof_status = (expression); !tinyprof_status.has_value()) {        \
      return tl::unexpected<::tinyprof::Error>(std::move(tinyprof_status).error()); \
    }                                                                               \
  } while (false)

// Declares `declaration` from the value of `expression`, or returns its error.
#define TINYPROF_ASSIGN_OR_RETURN(declaration, expression)                                  \
  TINYPROF_ASSIGN_OR_RETURN_INNER(TINYPROF_CONCAT(tinyprof_result_, __LINE__), declaration, \
                                  expression)
#define TINYPROF_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                            \
  if (!result.has_value()) {                                             \
    return tl::unexpected<::tinyprof::Error>(std::move(result).error()); \
  }                                                                      \
  declaration = *std::move(result)
