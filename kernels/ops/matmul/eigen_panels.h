// The inner loops of single-precision matrix products: operands packed into panels in the order in
// which they are used, and tiles of the product that are summed in registers.
//
// Compilers keep the tile in registers and the packed operands in the nearest caches, which is
// where Eigen's own loops lose a fifth (built by gcc) of the FMA peak. The scheme is that of Goto
// and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "kernels/ops/matmul/eigen_gemm.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

using FloatPacket = Eigen::internal::packet_traits<float>::type;
inline constexpr int64_t kPacketFloats = Eigen::internal::packet_traits<float>::size;

// A tile is this many rows by columns: its sums, a row of B and one factor of A fill the registers.
inline constexpr int kPanelRows = EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32 ? 12 : 6;
inline constexpr int64_t kPanelColumns = 2 * kPacketFloats;

// Columns of all panels that hold `columns`: the last panel is one packet wide where that is
// enough. What is beyond `columns` is 0.
inline int64_t PaddedColumns(int64_t columns) {
  return (columns + kPacketFloats - 1) / kPacketFloats * kPacketFloats;
}

// Columns in the panel that begins at `first` of `padded` columns.
inline int64_t PanelWidth(int64_t first, int64_t padded) {
  return std::min(kPanelColumns, padded - first);
}

// The part of a depth k that one pass over panels takes: a panel of A is then at most a third of a
// first-level cache, and deep enough that reading and writing C hardly shows.
int64_t PanelDepth(int64_t k);

// Writes alpha * A, m x k, as panels of kPanelRows rows, each [k][rows]: m * k floats. The last
// panel has the rows that are left.
void PackRows(int64_t m, int64_t k, GemmOperand a, float alpha, float* panels);

// Writes B, k x n, as panels of kPanelColumns columns, each [k][width]: k * PaddedColumns(n)
// floats.
void PackColumns(int64_t k, int64_t n, GemmOperand b, float* panels);

// The product of packed operands into `c`, whose rows lie `c_stride` apart.
void MultiplyPanels(GemmSize size, const float* a_panels, const float* b_panels, float* c,
                    int64_t c_stride, Update update);

// The same, where row i of B is what begins at b + b_offsets[i]: rows may overlap. `size.n` is a
// multiple of kPacketFloats, and all columns of `c` and of the rows of B are there.
void MultiplyRows(GemmSize size, const float* a_panels, const float* b, const int64_t* b_offsets,
                  float* c, int64_t c_stride, Update update);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
