// The JSON documents of the contract. Each is one object with schema_version 1 and fields in a
// fixed order; analytic counts are integers, everything that may be absent says why it is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kernels/base/error.h"
#include "tinyprof/v1/service.pb.h"

namespace tinyprof::client {

using Json = nlohmann::ordered_json;

// `document` as indented text with a final newline; bytes that are no UTF-8 become U+FFFD.
std::string Dump(const Json& document);

// {"schema_version": 1, "command": command}: what every document begins with.
Json NewDocument(std::string_view command);

Json AnalysisDocument(std::string_view command, const v1::ModelAnalysis& analysis);
// A run in any state; without a report it holds `run` only.
Json RunDocument(std::string_view command, const v1::Run& run);
Json RunListDocument(const std::vector<v1::Run>& runs);
Json HostDocument(const v1::Host& host);
Json RooflineDocument(const v1::Roofline& roofline);
Json CountersDocument(const v1::ListCountersResponse& response);
Json DoctorDocument(const v1::DiagnoseResponse& response);
Json ModelsDocument(const std::vector<v1::Model>& models);
Json VerifyDocument(const v1::VerifyModelResponse& response);
// What is printed for a command that failed before there was a result.
Json ErrorDocument(std::string_view command, const Error& error);

}  // namespace tinyprof::client
