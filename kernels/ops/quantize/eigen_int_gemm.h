// Products of matrices of 16-bit integers with sums of 32 bits that wrap around, on operands packed
// in panels. Two neighbours along k lie side by side: one instruction multiplies and adds both.
//
// k is filled up with a zero where it is odd. All functions are for one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

#if defined(__AVX512BW__)
inline constexpr int kIntLanes = 16;  // sums in a register
inline constexpr int kIntPanelRows = 8;
inline constexpr int kIntPanelVectors = 3;
#elif defined(__AVX2__)
inline constexpr int kIntLanes = 8;
inline constexpr int kIntPanelRows = 6;
inline constexpr int kIntPanelVectors = 2;
#else
inline constexpr int kIntLanes = 4;
inline constexpr int kIntPanelRows = 4;
inline constexpr int kIntPanelVectors = 2;
#endif
inline constexpr int64_t kIntPanelColumns = int64_t{kIntLanes} * kIntPanelVectors;

inline int64_t IntPairs(int64_t k) { return (k + 1) / 2; }
// Columns of a right operand with those that fill up a register.
inline int64_t IntColumns(int64_t n) { return (n + kIntLanes - 1) / kIntLanes * kIntLanes; }
// Elements of the packed operands. The panel that begins at row (column) r starts at element
// r * 2 * IntPairs(k); panels have kIntPanelRows rows and kIntPanelColumns columns, the last
// one what is left (columns filled up).
inline int64_t IntLeftElements(int64_t m, int64_t k) { return m * 2 * IntPairs(k); }
inline int64_t IntRightElements(int64_t n, int64_t k) { return IntColumns(n) * 2 * IntPairs(k); }

// Packs m rows of k elements, rows `stride` apart, each less the zero point of its row: `zero(i)`.
template <class Q, class Zero>
void PackIntLeft(int64_t m, int64_t k, const Q* from, int64_t stride, const Zero& zero,
                 int16_t* packed) {
  for (int64_t first = 0; first < m; first += kIntPanelRows) {
    const int64_t rows = std::min<int64_t>(kIntPanelRows, m - first);
    for (int64_t i = 0; i < rows; ++i) {
      const Q* row = from + (first + i) * stride;
      const auto row_zero = static_cast<int16_t>(zero(first + i));
      int16_t* out = packed + 2 * i;
      for (int64_t p = 0; p < k / 2; ++p) {
        const int16_t pair[2] = {static_cast<int16_t>(row[2 * p] - row_zero),
                                 static_cast<int16_t>(row[2 * p + 1] - row_zero)};
        std::memcpy(out + p * 2 * rows, pair, sizeof(pair));
      }
      if (k % 2 == 0) continue;
      out[(k / 2) * 2 * rows] = static_cast<int16_t>(row[k - 1] - row_zero);
      out[(k / 2) * 2 * rows + 1] = 0;
    }
    packed += rows * 2 * IntPairs(k);
  }
}

// Writes two neighbouring rows of a right operand, `columns` elements of a panel, as pairs.
inline void StoreIntPairs(int64_t columns, const int16_t* even, const int16_t* odd, int16_t* out) {
  for (int64_t i = 0; i < columns; ++i) {
    out[2 * i] = even[i];
    out[2 * i + 1] = odd[i];
  }
}

// sums[i * kIntPanelColumns + j], i < rows, j < IntColumns(columns), of one panel of each operand;
// sums of the columns that fill up mean nothing. `left`, `right` and `sums` are 64-byte aligned.
void MultiplyIntPanels(int64_t rows, int64_t columns, int64_t k, const int16_t* left,
                       const int16_t* right, int32_t* sums);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
