// From a float32 network to one that multiplies 8-bit integers, with what that costs in accuracy.
//
// Loops and branches of an ONNX file are gone when it is a Graph: their nodes are like any others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/quantization/output_error.h"
#include "kernels/quantization/quantizable.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

struct QuantizeOptions {
  QuantizationMode mode = QuantizationMode::kStatic;
  SessionOptions session;  // what calibrates and compares
  uint64_t seed = 1;       // of the inputs
  int64_t samples = 16;    // that calibrate, from sample 0 on; at least 1
  int64_t held_out = 8;    // samples behind them that the outputs are compared on; at least 1
  // Told of each sample that has run: "calibrating" or "comparing", how many are done, of how many
  // in this phase. May be empty.
  std::function<void(std::string_view phase, int64_t done, int64_t total)> on_progress = {};
};

// A node that multiplies by weights and stays float32.
struct LeftNode {
  std::string name;
  std::string op_type;
  std::string reason;  // "its weights are computed in the run"
};

// Nodes of one operator of the given network.
struct QuantizedOperator {
  std::string op_type;
  int64_t quantized = 0;
  int64_t left = 0;
};

struct QuantizedModel {
  Graph graph;
  std::vector<QuantizedOperator> operators;  // those that have a quantized or a left node
  std::vector<LeftNode> left;
  int64_t folded_batch_norms = 0;
  int64_t other_nodes = 0;  // of the given network: neither quantized, left nor folded
  // All initializers, each once.
  int64_t float_weight_bytes = 0;
  int64_t quantized_weight_bytes = 0;
  std::vector<OutputError> errors;  // of the float32 outputs, on the held-out samples
};

// FAILED_PRECONDITION / "ALREADY_QUANTIZED" for what this has made, whose error and origins would
// be told against a model that is none of float32; "NOTHING_TO_QUANTIZE" when no node can be; the
// errors of Calibrate(), which dynamic quantization does without. Called by the master of the team.
Result<QuantizedModel> QuantizeModel(const Graph& graph, const QuantizeOptions& options);

}  // namespace tinyprof
