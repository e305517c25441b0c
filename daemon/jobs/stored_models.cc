#include "daemon/jobs/stored_models.h"

#include <utility>

#include "daemon/convert/analysis.h"

namespace tinyprof {

Result<v1::ModelAnalysis> StoredModels::Analyze(const v1::ModelSpec& spec) {
  TINYPROF_ASSIGN_OR_RETURN(const std::optional<UniqueFd> file, OpenFile(spec));
  if (!file) return AnalyzeSpec(spec, -1);
  TINYPROF_ASSIGN_OR_RETURN(v1::ModelAnalysis analysis, reader_.Analyze(spec, file->get()));
  // Gone in the meantime: the file that is open is still the one that was analysed.
  if (const auto stored = store_.Get(spec.text()); stored.has_value()) {
    analysis.set_sha256(stored->sha256);
  }
  return analysis;
}

Result<std::optional<UniqueFd>> StoredModels::OpenFile(const v1::ModelSpec& spec) {
  // No uploaded model has the name of a built-in one or of a layer, so what is not found here is
  // built-in or unknown, which BuildModel tells.
  Result<int> file = store_.OpenModel(spec.text());
  if (file.has_value()) return std::optional<UniqueFd>(UniqueFd(*file));
  if (file.error().code == ErrorCode::kNotFound) return std::nullopt;
  return tl::unexpected(std::move(file).error());
}

}  // namespace tinyprof
