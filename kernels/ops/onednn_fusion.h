// What follows the first part of a fused node, as oneDNN takes it: operations on each element of a
// primitive's result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/graph/fusion.h"
#include "kernels/ops/onednn_primitive.h"

namespace tinyprof::onednn {

struct After {
  dnnl::post_ops operations;
  std::vector<Operand> operands;
  // The input whose elements the output has to hold before: the library adds to them.
  std::optional<size_t> summed;
};

// The steps of a fused node from `first` on, behind the operations that are `before` them; none for
// a node that is not fused. `by_channel` are the dimensions of a kBias as the library sees the
// result: its channels, and 1 else.
After AfterOf(const NodeSignature& signature, size_t first, const Dims& by_channel,
              dnnl::post_ops before = {});

// Whether a function is there twice: oneDNN 2.6 then takes the coefficients of the first for both.
bool RepeatsFunction(const dnnl::post_ops& operations);

// Says which steps follow, for people and as a key: "BatchNorm, Relu".
std::string StepNames(const NodeSignature& signature);

}  // namespace tinyprof::onednn
