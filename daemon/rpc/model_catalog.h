// Every model that a ModelSpec can name: the zoo, layer lists and uploaded files.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/jobs/model_source.h"
#include "daemon/model/model_store.h"
#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "tinyprof/v1/model.pb.h"

namespace tinyprof {

// Thread-safe.
class ModelCatalog final : public ModelSource {
 public:
  // `store` must outlive the catalog.
  explicit ModelCatalog(ModelStore& store) : store_(store) {}

  Result<v1::ModelAnalysis> Analyze(const v1::ModelSpec& spec) override;
  Result<std::optional<UniqueFd>> OpenFile(const v1::ModelSpec& spec) override;
  // The graph that `spec` names. The errors of BuildGraph.
  Result<Graph> Build(const v1::ModelSpec& spec);

  // How a built-in or an uploaded model is shown. NOT_FOUND / "UNKNOWN_MODEL".
  Result<v1::Model> Describe(std::string_view name);
  // The names of Describe: the zoo in its order, then uploaded models by name.
  std::vector<std::string> Names() const;
  ModelStore& store() { return store_; }

 private:
  // Trained elements of a file; nothing when its shapes are not known without inputs.
  std::optional<int64_t> ParameterCountOf(const StoredModel& model);

  ModelStore& store_;
  std::mutex counts_mutex_;
  std::map<std::string, std::optional<int64_t>> counts_;  // by SHA-256
};

}  // namespace tinyprof
