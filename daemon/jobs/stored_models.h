// The models of this daemon: the zoo, layer lists, and what was uploaded.
#pragma once

#include "daemon/jobs/model_reader.h"
#include "daemon/jobs/model_source.h"
#include "daemon/model/model_store.h"

namespace tinyprof {

class StoredModels final : public ModelSource {
 public:
  // `store` and `reader`, which looks into its files, must outlive this.
  StoredModels(ModelStore& store, ModelReader& reader) : store_(store), reader_(reader) {}

  Result<v1::ModelAnalysis> Analyze(const v1::ModelSpec& spec) override;
  Result<std::optional<UniqueFd>> OpenFile(const v1::ModelSpec& spec) override;

 private:
  ModelStore& store_;
  ModelReader& reader_;
};

}  // namespace tinyprof
