// Networks of older ONNX files in the words of opset 13, which can be written and quantized.
//
// Between opset 7 and 13 most operators kept their meaning. Of those that changed, the reader has
// rewritten some already (onnx_forms.cc); here what was an attribute becomes the input that it is
// since: axes of Squeeze, Unsqueeze and ReduceSum, sizes of Split, bounds of Clip and Slice, pads,
// k of TopK.
#pragma once

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// `graph` itself when it was built here or is of opset 13 or later. Gives the same outputs;
// names of values are unique.
// UNIMPLEMENTED / "OPSET_NOT_SUPPORTED" below opset 7, or with the names of the nodes for which no
// way is known.
Result<Graph> UpgradedGraph(const Graph& graph);

}  // namespace tinyprof
