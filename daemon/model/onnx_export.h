// Writes a graph as an ONNX file.
#pragma once

#include <functional>
#include <string_view>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// Receives the file piece by piece, in order; its error ends the export.
using ByteSink = std::function<Status(std::string_view bytes)>;

// Whether a graph's nodes are spelled as some opset that is written wants: UNIMPLEMENTED /
// "OPSET_NOT_SUPPORTED" for one imported from before opset 13, where reading changes nodes.
Status CheckExportable(const Graph& graph);

// Writes `graph` as a ModelProto of IR version 8 with the lowest opset, at least 17, that has all
// of its operators, or with the opset that an imported graph came in. Weights are made one at a
// time and passed on, so that memory stays bounded by the largest one. Works for graphs of any
// size; readers of protobuf take up to 2 GiB: RESOURCE_EXHAUSTED / "MODEL_TOO_LARGE" beyond. Fails
// as CheckExportable() does.
Status ExportOnnx(const Graph& graph, const ByteSink& sink);

}  // namespace tinyprof
