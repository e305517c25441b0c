// QuantizationFacts in the metadata_props of an ONNX file, under keys that begin with "tinyprof.":
// quantized_from, quantization, float_weight_bytes, quantized_weight_bytes, max_abs_error,
// relative_rms_error, sqnr_db, top1_agreement. Origins of nodes (kernels/graph/origins.h) are in
// their doc_strings: "tinyprof.stands_for:", then a name on each line.
#pragma once

#include <optional>

#include "kernels/graph/graph.h"
#include "kernels/graph/quantization_facts.h"

namespace onnx {
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace tinyprof {

void AddQuantization(const QuantizationFacts& facts, onnx::ModelProto& model);

// Nothing for a file without quantized_from. The file is anyone's: what is no UTF-8, no number or
// no possible one is left out.
std::optional<QuantizationFacts> QuantizationOf(const onnx::ModelProto& model);

void AddOrigins(const Node& node, onnx::NodeProto& proto);
// Notes in `node` what AddOrigins wrote. The file is anyone's: what is no UTF-8, or longer than 64
// KiB, is left out.
void ReadOrigins(const onnx::NodeProto& proto, Node& node);

}  // namespace tinyprof
