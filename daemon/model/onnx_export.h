// Writes a graph as an ONNX file.
#pragma once

#include <functional>
#include <string_view>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// Receives the file piece by piece, in order; its error ends the export.
using ByteSink = std::function<Status(std::string_view bytes)>;

// Writes `graph` as a ModelProto of IR version 8 with the lowest opset, at least 17, that has all
// of its operators, or with the opset that an imported graph came in. Weights are made one at a
// time and passed on, so that memory stays bounded by the largest one. Works for graphs of any
// size; readers of protobuf take up to 2 GiB: RESOURCE_EXHAUSTED / "MODEL_TOO_LARGE" beyond.
// UNIMPLEMENTED / "OPSET_NOT_SUPPORTED" for a graph of before opset 13: UpgradedGraph()
// (onnx_upgrade.h) makes one of opset 13 of it.
Status ExportOnnx(const Graph& graph, const ByteSink& sink);

}  // namespace tinyprof
