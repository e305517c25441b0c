// How the models that can be named are shown: the zoo and the uploaded files.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/jobs/model_source.h"
#include "daemon/model/model_store.h"
#include "kernels/base/error.h"
#include "tinyprof/v1/model.pb.h"

namespace tinyprof {

// Thread-safe.
class ModelCatalog {
 public:
  // `store` and `models`, which reads from it, must outlive the catalog.
  ModelCatalog(ModelStore& store, ModelSource& models) : store_(store), models_(models) {}

  // NOT_FOUND / "UNKNOWN_MODEL".
  Result<v1::Model> Describe(std::string_view name);
  // The names of Describe: the zoo in its order, then uploaded models by name.
  std::vector<std::string> Names() const;

 private:
  // What a file holds; nothing when its shapes are not known without inputs.
  struct Content {
    int64_t parameter_count = 0;
    std::optional<v1::Quantization> quantization;
  };
  std::optional<Content> ContentOf(const StoredModel& model);

  ModelStore& store_;
  ModelSource& models_;
  std::mutex contents_mutex_;
  std::map<std::string, std::optional<Content>> contents_;  // by SHA-256
};

}  // namespace tinyprof
