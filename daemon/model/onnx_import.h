// From an ONNX file to a graph of operators that tinyprof knows.
//
// What can be known before the run is worked out here: shapes from --input, constants, the branch
// of an If whose condition is constant. Opsets 1 to 26 of the default domain are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/model/tensor_proto.h"
#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/zoo/model_spec.h"

namespace tinyprof {

struct ImportOptions {
  std::string name;  // of the graph
  // Shapes of inputs with free dimensions. For an input that the file declares as an integer scalar
  // the one number is its value, which is then fixed: --input sr=16000.
  std::vector<InputShape> inputs;
  int64_t batch = 1;  // for a free first dimension that no --input sets
  // Inputs whose elements are known before the run, by name: those that shapes depend on.
  std::vector<TensorData> fixed;
};

// The largest file that is read: what one protobuf message can hold.
inline constexpr int64_t kMaxOnnxBytes = (int64_t{1} << 31) - 1;

// INVALID_ARGUMENT: "BAD_ONNX" for a file that is damaged or breaks ONNX's rules, "BAD_INPUT" when
// a free dimension needs --input, "SHAPE_MISMATCH" naming the node. UNIMPLEMENTED: "EXTERNAL_DATA",
// "UNKNOWN_OPERATOR" (all unknown operators with their nodes), "CONTROL_FLOW".
Result<Graph> ImportOnnx(std::span<const std::byte> file, const ImportOptions& options);

// The same from an open file descriptor, which is mapped and not closed.
Result<Graph> ImportOnnxFd(int fd, const ImportOptions& options);
// The same from a path. NOT_FOUND / "NO_FILE" when it cannot be opened.
Result<Graph> ImportOnnxFile(const std::string& path, const ImportOptions& options);

// Whether the file can be imported once its free dimensions and values are given.
Status CheckOnnxFd(int fd);

}  // namespace tinyprof
