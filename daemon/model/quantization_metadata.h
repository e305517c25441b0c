// QuantizationFacts in the metadata_props of an ONNX file, under keys that begin with "tinyprof.":
// quantized_from, quantization, float_weight_bytes, quantized_weight_bytes, max_abs_error,
// relative_rms_error, sqnr_db, top1_agreement.
#pragma once

#include <optional>

#include "kernels/graph/quantization_facts.h"

namespace onnx {
class ModelProto;
}

namespace tinyprof {

void AddQuantization(const QuantizationFacts& facts, onnx::ModelProto& model);

// Nothing for a file without quantized_from. The file is anyone's: what is no UTF-8, no number or
// no possible one is left out.
std::optional<QuantizationFacts> QuantizationOf(const onnx::ModelProto& model);

}  // namespace tinyprof
