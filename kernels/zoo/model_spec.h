// From what a user typed to a graph: zoo models with parameters and layer lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

// The name (may be empty) and the dimensions of one --input.
using InputShape = std::pair<std::string, std::vector<int64_t>>;

inline constexpr int64_t kMaxBatch = 65536;

// What a user named: "resnet50:image=192" or "linear(784,128); relu", with --input and --batch.
struct ModelSpec {
  std::string text;
  std::vector<InputShape> inputs;
  int64_t batch = 1;
  uint64_t seed = 1;  // of all weights and inputs
};

// The graph that `spec` names, with synthetic weights. INVALID_ARGUMENT with a reason such as
// "BAD_BATCH", "BAD_INPUT", "BAD_PARAMETER", "BAD_LAYER_LIST" or "SHAPE_MISMATCH"; NOT_FOUND /
// "UNKNOWN_MODEL" for a name that is neither.
Result<Graph> BuildModel(const ModelSpec& spec);

// Whether `text` is to be read as a layer list and not as a name.
bool IsLayerList(std::string_view text);

// "NAME=1x3x224x224" or "32x784". INVALID_ARGUMENT / "BAD_INPUT".
Result<InputShape> ParseInputFlag(std::string_view text);

// INVALID_ARGUMENT / "BAD_BATCH" unless 1 <= batch <= kMaxBatch.
Status CheckBatch(int64_t batch);

}  // namespace tinyprof
