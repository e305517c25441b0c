// The words that the contract uses for the enums of the protocol, and small texts that every
// renderer shares.
#pragma once

#include <google/protobuf/timestamp.pb.h>

#include <string>

#include "tinyprof/v1/service.pb.h"

namespace tinyprof::client {

// "papi", "executed", ...; "" for a source that is not known.
std::string SourceName(v1::Source source);
// "exact", "good", "suspect" or "".
std::string QualityName(v1::Quality quality);
// "QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED" or "UNSPECIFIED".
std::string StateName(v1::RunState state);
// "ok", "warn", "fail" or "skip".
std::string CheckStateName(v1::CheckState state);
std::string BackendName(v1::Backend backend);
std::string ConvAlgorithmName(v1::ConvAlgorithm algorithm);
std::string CacheName(v1::CacheMode cache);

// "1x3x224x224"; "scalar" for no dimensions.
// Whose kernel ran the layer and its name there: "onednn jit:avx512_core"; "n/a" when it is not
// known.
std::string KernelText(const v1::LayerReport& layer);
// Of the other kernels that the layer was tried with, the fastest, and how many times as long it
// took as the one that ran: "eigen im2col+gemm 1.31x"; below 1 where its operands would have had to
// be rearranged. Empty when there is none.
std::string RunnerUpText(const v1::LayerReport& layer);
// The names of all nodes that run as the layer: "conv1+bn1+relu".
std::string LayerName(const v1::LayerAnalysis& layer);
std::string ShapeText(const v1::TensorInfo& tensor);
// The shapes of all tensors, joined by ", ".
std::string ShapesText(const google::protobuf::RepeatedPtrField<v1::TensorInfo>& tensors);
// Whether the time is one that a calendar has.
bool IsCalendarTime(const google::protobuf::Timestamp& time);
// "2023-11-14 22:13:20" (UTC), or "n/a" when there is none.
std::string TimeText(bool present, const google::protobuf::Timestamp& time);
// Why a layer has no counts, "CODE: sentence".
std::string NoCostReason(const v1::LayerAnalysis& layer);
// Why a layer or a run has no bound.
inline constexpr const char* kNoBoundReason =
    "NO_ROOFLINE: no roofline was measured for this ISA and number of threads; "
    "`tinyprof-client roofline --measure` measures it";
// Why the parameters of an uploaded file are not known.
inline constexpr const char* kNeedsShapesReason =
    "NEEDS_SHAPES: the file cannot be read without shapes for its inputs";
// Why instruction-exact counts are absent.
inline constexpr const char* kNoExecutedReason =
    "NOT_IN_BUILD: this build does not count executed instructions";

}  // namespace tinyprof::client
