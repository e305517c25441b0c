// What a fused node does to each element of its first part's result, a piece at a time while the
// piece is in the cache. Used by the kernels of products and convolutions.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/elementwise/eigen_unary.h"
#include "kernels/ops/kernel.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// Immutable after creation; each thread may work on another piece.
class Epilogue {
 public:
  // Does nothing for a node that is not fused. Reads the weights behind a normalization.
  explicit Epilogue(const NodeSignature& signature);

  bool is_empty() const { return steps_.empty(); }
  // On elements [begin, begin + count) of the output, all of one channel.
  void RunOnPlane(const KernelArgs& args, int64_t begin, int64_t count, int64_t channel) const;
  // On elements [begin, begin + count) of the output, whose rows of `row_length` have a channel a
  // column.
  void RunOnRows(const KernelArgs& args, int64_t begin, int64_t count, int64_t row_length) const;

 private:
  struct Step {
    std::vector<float> factors;  // kBatchNorm: by channel
    std::vector<float> offsets;
    size_t bias = 0;  // inputs; 0, which is no addend of any node: none
    size_t addend = 0;
    RowFunction activation = nullptr;
    Coefficients coefficients;
  };

  std::vector<Step> steps_;
};

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
