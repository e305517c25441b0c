// The tensors of an ONNX node test on disk: input_0.pb, input_1.pb, ..., output_0.pb, ...
#pragma once

#include <string>
#include <vector>

#include "client/lib/connection.h"
#include "kernels/base/error.h"

namespace tinyprof::client {

// Paths by position.
struct VerifyData {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

// Finds the tensors of a directory. INVALID_ARGUMENT when it cannot be read, holds no output or
// leaves a number out.
Result<VerifyData> FindVerifyData(const std::string& directory);

// Streams `spec` and the tensors, in pieces, and returns the daemon's comparison.
Result<v1::VerifyModelResponse> Verify(Connection& connection, const v1::VerifySpec& spec,
                                       const VerifyData& data);

}  // namespace tinyprof::client
