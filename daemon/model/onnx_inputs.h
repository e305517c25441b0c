// The shapes of an ONNX graph's inputs: what the file fixes, what --input sets, what the batch
// fills.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/onnx_import.h"
#include "daemon/model/tensor_proto.h"
#include "kernels/base/error.h"

namespace onnx {
class GraphProto;
}

namespace tinyprof {

struct BoundInput {
  std::string name;
  TensorType type;
  std::optional<TensorData> value;  // of an input that is fixed before the run
};

// The inputs of `graph` that are no initializers, in the file's order. A dimension with the same
// name has the same size in all inputs. INVALID_ARGUMENT / "BAD_INPUT" or "BAD_BATCH".
Result<std::vector<BoundInput>> BindInputs(const onnx::GraphProto& graph,
                                           const ImportOptions& options);

}  // namespace tinyprof
