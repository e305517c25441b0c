// Pieces that several JSON documents are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/render/json.h"

namespace tinyprof::client {

// The number, or null when it is not finite: JSON has no infinity.
Json Number(double value);
Json OptionalNumber(bool present, double value);
// Why Number() of it is null, "CODE: sentence"; null when it is not.
Json NotFiniteReason(double value);

// The text, or null when it is empty.
Json TextOrNull(const std::string& text);

// RFC 3339, or null when the message has no time.
Json TimeOrNull(bool present, const google::protobuf::Timestamp& time);

// {"value", "unit", "source", "quality", "reason"}, and "formula" when events stand behind it.
Json QuantityJson(const v1::Quantity& quantity);
// An absent quantity.
Json AbsentQuantity(std::string_view unit, std::string_view source, std::string_view reason);

Json TensorsJson(const google::protobuf::RepeatedPtrField<v1::TensorInfo>& tensors);
Json HostJson(const v1::Host& host);
// {"complete", "elapsed_ns", "rows": [...]}.
Json TrustJson(const v1::TrustTable& trust);

// Adds the counts of `cost` to `target`, null each when `cost` is null.
void AddCost(const v1::Cost* cost, const std::string& absent_reason, Json& target);
// Adds what is known of a layer without running it.
void AddLayerAnalysis(const v1::LayerAnalysis& layer, Json& target);
// "convention", "model" and "totals" of an analysis.
void AddAnalysisHead(const v1::ModelAnalysis& analysis, Json& document);

}  // namespace tinyprof::client
