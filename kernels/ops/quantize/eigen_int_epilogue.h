// What becomes of a tile of sums of products: int32 as they are, or 8 bits after a bias, a factor
// and a zero point.
#pragma once

#include <cstdint>

#include "kernels/ops/quantize/product_dims.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// Where a tile lies in the output.
struct IntTile {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t channel = 0;  // of its first row or column
  int64_t begin = 0;    // its first element
  int64_t stride = 0;   // from row to row
};

// Immutable; each thread may work on another tile.
class IntEpilogue {
 public:
  enum class Channels { kAreRows, kAreColumns };

  IntEpilogue(const NodeSignature& signature, const ProductRoles& roles, Channels channels);

  // `sums` as MultiplyIntPanels() writes them.
  void Run(const KernelArgs& args, const int32_t* sums, const IntTile& tile) const;

 private:
  template <class Q>
  void Quantize(const KernelArgs& args, const int32_t* sums, const IntTile& tile) const;

  bool is_linear_;
  bool has_bias_;
  bool to_int8_;
  Channels channels_;
};

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
