// The names in an ONNX file. Its format does not demand that they are text, all that reports do.
#pragma once

#include "kernels/base/error.h"

namespace onnx {
class GraphProto;
}  // namespace onnx

namespace tinyprof {

// INVALID_ARGUMENT / "BAD_ONNX" with the position of the first name that is no UTF-8, in `graph`
// and the branches in it.
Status CheckNames(const onnx::GraphProto& graph);

}  // namespace tinyprof
