// Where the models of runs come from: the built-in ones and the uploaded files.
#pragma once

#include <optional>

#include "daemon/worker/unique_fd.h"
#include "kernels/base/error.h"
#include "kernels/zoo/analysis.h"
#include "tinyprof/v1/model.pb.h"

namespace tinyprof {

// Thread-safe.
class ModelSource {
 public:
  virtual ~ModelSource() = default;

  // The counts of the model that `spec` names; builds its graph but no weights. INVALID_ARGUMENT or
  // NOT_FOUND as BuildModel says.
  virtual Result<v1::ModelAnalysis> Analyze(const v1::ModelSpec& spec) = 0;
  // The file behind the name, open for reading; nothing for a built-in model or a layer list.
  virtual Result<std::optional<UniqueFd>> OpenFile(const v1::ModelSpec& spec) = 0;
};

}  // namespace tinyprof
