// The built-in models. Weights are synthetic; architectures and parameter counts are the published
// ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

struct ZooParameter {
  std::string_view key;
  std::string_view default_value;
  std::string_view meaning;
};

struct ZooEntry {
  std::string_view name;
  std::string_view summary;
  std::vector<ZooParameter> parameters;
  // Trained parameters (shared ones once) of the model with default parameters, as published.
  int64_t published_parameter_count = 0;
};

// Every model of the zoo, in the order in which they are shown.
std::span<const ZooEntry> ZooEntries();

// The entry of that name (without parameters), or null.
const ZooEntry* FindZooEntry(std::string_view name);

// Builds "name" or "name:key=value,...". NOT_FOUND / "UNKNOWN_MODEL" and INVALID_ARGUMENT /
// "BAD_PARAMETER" list what there is.
Result<Graph> BuildZooModel(std::string_view text, int64_t batch, uint64_t seed);

}  // namespace tinyprof
