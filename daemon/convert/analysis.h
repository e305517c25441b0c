// The analytic side of a model: graph, costs and parameters to v1::ModelAnalysis.
#pragma once

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/ops/cost.h"
#include "kernels/zoo/analysis.h"
#include "tinyprof/v1/model.pb.h"

namespace tinyprof {

// The convention of every count, in one sentence.
inline constexpr const char* kCountingConvention =
    "1 multiply-accumulate is 2 FLOPs; counts are for the whole invocation, batch included";

v1::Cost ToProto(const Cost& cost);

// `analysis` is that of `graph`. sha256 stays empty: a graph does not know its file.
v1::ModelAnalysis ToProto(const Graph& graph, const ModelAnalysis& analysis);

// The analysis of the graph that BuildGraph(spec, model_fd) gives, and its errors.
Result<v1::ModelAnalysis> AnalyzeSpec(const v1::ModelSpec& spec, int model_fd);

}  // namespace tinyprof
