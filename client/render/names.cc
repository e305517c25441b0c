#include "client/render/names.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>

namespace tinyprof::client {

std::string SourceName(v1::Source source) {
  switch (source) {
    case v1::SOURCE_PAPI:
      return "papi";
    case v1::SOURCE_EXECUTED:
      return "executed";
    case v1::SOURCE_SOFTWARE:
      return "software";
    case v1::SOURCE_ANALYTIC:
      return "analytic";
    case v1::SOURCE_DERIVED:
      return "derived";
    case v1::SOURCE_SIMULATED:
      return "simulated";
    case v1::SOURCE_PERF_EVENT:
      return "perf_event";
    default:
      return "";
  }
}

std::string QualityName(v1::Quality quality) {
  switch (quality) {
    case v1::QUALITY_EXACT:
      return "exact";
    case v1::QUALITY_GOOD:
      return "good";
    case v1::QUALITY_SUSPECT:
      return "suspect";
    default:
      return "";
  }
}

std::string StateName(v1::RunState state) {
  switch (state) {
    case v1::RUN_STATE_QUEUED:
      return "QUEUED";
    case v1::RUN_STATE_RUNNING:
      return "RUNNING";
    case v1::RUN_STATE_SUCCEEDED:
      return "SUCCEEDED";
    case v1::RUN_STATE_FAILED:
      return "FAILED";
    case v1::RUN_STATE_CANCELLED:
      return "CANCELLED";
    default:
      return "UNSPECIFIED";
  }
}

std::string CheckStateName(v1::CheckState state) {
  if (state == v1::CHECK_STATE_OK) return "ok";
  if (state == v1::CHECK_STATE_SKIP) return "skip";
  return state == v1::CHECK_STATE_WARN ? "warn" : "fail";
}

std::string BackendName(v1::Backend backend) {
  if (backend == v1::BACKEND_REFERENCE) return "reference";
  if (backend == v1::BACKEND_BEST) return "best";
  return backend == v1::BACKEND_ONEDNN ? "onednn" : "eigen";
}

std::string ConvAlgorithmName(v1::ConvAlgorithm algorithm) {
  if (algorithm == v1::CONV_ALGORITHM_WINOGRAD) return "winograd";
  return algorithm == v1::CONV_ALGORITHM_AUTO ? "auto" : "direct";
}

std::string CacheName(v1::CacheMode cache) {
  return cache == v1::CACHE_MODE_COLD ? "cold" : "warm";
}

std::string KernelText(const v1::LayerReport& layer) {
  if (layer.implementation().empty()) return "n/a";
  return layer.backend().empty() ? layer.implementation()
                                 : layer.backend() + " " + layer.implementation();
}

std::string RunnerUpText(const v1::LayerReport& layer) {
  const auto ran = [&](const v1::KernelTiming& tried) {
    return tried.backend() == layer.backend() && tried.implementation() == layer.implementation();
  };
  const auto& all = layer.kernels_tried();
  const auto own = std::find_if(all.begin(), all.end(), ran);
  const auto other = std::find_if_not(all.begin(), all.end(), ran);
  if (own == all.end() || other == all.end() || !(own->median_ns() > 0)) return "";
  return fmt::format("{} {} {:.2f}x", other->backend(), other->implementation(),
                     other->median_ns() / own->median_ns());
}

std::string LayerName(const v1::LayerAnalysis& layer) {
  return layer.fused().empty() ? layer.name() : fmt::format("{}", fmt::join(layer.fused(), "+"));
}

std::string ShapeText(const v1::TensorInfo& tensor) {
  return tensor.shape().empty() ? "scalar" : fmt::format("{}", fmt::join(tensor.shape(), "x"));
}

std::string ShapesText(const google::protobuf::RepeatedPtrField<v1::TensorInfo>& tensors) {
  std::string text;
  for (const auto& tensor : tensors) text += (text.empty() ? "" : ", ") + ShapeText(tensor);
  return text;
}

bool IsCalendarTime(const google::protobuf::Timestamp& time) {
  using google::protobuf::util::TimeUtil;
  return time.seconds() >= TimeUtil::kTimestampMinSeconds &&
         time.seconds() <= TimeUtil::kTimestampMaxSeconds && time.nanos() >= 0 &&
         time.nanos() < 1'000'000'000;
}

std::string TimeText(bool present, const google::protobuf::Timestamp& time) {
  using google::protobuf::util::TimeUtil;
  if (!present || !IsCalendarTime(time)) return "n/a";
  const std::string text = TimeUtil::ToString(TimeUtil::SecondsToTimestamp(time.seconds()));
  return fmt::format("{} {}", text.substr(0, 10), text.substr(11, 8));
}

std::string NoCostReason(const v1::LayerAnalysis& layer) {
  return fmt::format("NO_COST_RULE: no rule gives the cost of the operator {}", layer.op());
}

}  // namespace tinyprof::client
