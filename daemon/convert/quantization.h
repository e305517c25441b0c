// Quantized models: facts and report to their messages.
#pragma once

#include "kernels/graph/quantization_facts.h"
#include "kernels/quantization/quantize.h"
#include "tinyprof/v1/service.pb.h"

namespace tinyprof {

// UNSPECIFIED is static.
QuantizationMode FromProto(v1::QuantizationMode mode);

v1::Quantization ToProto(const QuantizationFacts& facts);

// The facts of a network that was `from` before.
QuantizationFacts FactsOf(const QuantizedModel& model, const std::string& from,
                          QuantizationMode mode);

// Without the facts and the counts of samples.
v1::QuantizationReport ToProto(const QuantizedModel& model);

}  // namespace tinyprof
