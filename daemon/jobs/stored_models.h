// The models of this daemon: the zoo, layer lists, and what was uploaded.
#pragma once

#include "daemon/jobs/model_source.h"
#include "daemon/model/model_store.h"

namespace tinyprof {

class StoredModels final : public ModelSource {
 public:
  // `store` must outlive this.
  explicit StoredModels(ModelStore& store) : store_(store) {}

  Result<v1::ModelAnalysis> Analyze(const v1::ModelSpec& spec) override;
  Result<std::optional<UniqueFd>> OpenFile(const v1::ModelSpec& spec) override;

 private:
  ModelStore& store_;
};

// The analysis of the graph that BuildGraph(spec, model_fd) gives.
Result<v1::ModelAnalysis> AnalyzeSpec(const v1::ModelSpec& spec, int model_fd);

}  // namespace tinyprof
