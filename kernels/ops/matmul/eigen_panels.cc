#include "kernels/ops/matmul/eigen_panels.h"

#include <array>
#include <utility>

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

using Eigen::internal::padd;
using Eigen::internal::ploadu;
using Eigen::internal::pmadd;
using Eigen::internal::pmul;
using Eigen::internal::pset1;
using Eigen::internal::pstoreu;

// Rows or columns that are transposed at once while packing.
constexpr int kBlock = 4;
using BlockPacket = Eigen::internal::Packet4f;

// Where a tile finds the rows of its columns of B: one after the other,
template <int kPackets>
struct PanelColumns {
  const float* panel;
  const float* Row(int64_t i) const { return panel + i * kPackets * kPacketFloats; }
};
// or at offsets.
struct OffsetColumns {
  const float* columns;
  const int64_t* offsets;
  const float* Row(int64_t i) const { return columns + offsets[i]; }
};

// Panels of A that are read once, as those of many weights for few places, come from far away: they
// are asked for this many rows of B ahead.
constexpr int kPrefetchRows = 64;

// A B for one tile of kRows rows and kPackets packets of columns.
template <int kRows, int kPackets, class Columns>
void MultiplyTile(int64_t depth, const float* a, Columns b, float* c, int64_t c_stride,
                  Update update) {
  FloatPacket sums[kRows][kPackets];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int packet = 0; packet < kPackets; ++packet) {
      sums[row][packet] = pset1<FloatPacket>(0.0F);
      // C is farther away than what is multiplied: it comes while that is done.
      __builtin_prefetch(c + row * c_stride + packet * kPacketFloats, 1);
    }
  }
  for (int64_t i = 0; i < depth; ++i) {
    const float* b_row = b.Row(i);
    __builtin_prefetch(a + kPrefetchRows * kRows);
    FloatPacket columns[kPackets];
#pragma GCC unroll 2
    for (int packet = 0; packet < kPackets; ++packet) {
      columns[packet] = ploadu<FloatPacket>(b_row + packet * kPacketFloats);
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const FloatPacket factor = pset1<FloatPacket>(a[row]);
#pragma GCC unroll 2
      for (int packet = 0; packet < kPackets; ++packet) {
        sums[row][packet] = pmadd(factor, columns[packet], sums[row][packet]);
      }
    }
    a += kRows;
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int packet = 0; packet < kPackets; ++packet) {
      float* at = c + row * c_stride + packet * kPacketFloats;
      FloatPacket& sum = sums[row][packet];
      pstoreu(at, update == Update::kAdd ? padd(ploadu<FloatPacket>(at), sum) : sum);
    }
  }
}

template <class Columns>
using TileFunction = void (*)(int64_t depth, const float* a, Columns b, float* c, int64_t c_stride,
                              Update update);

// By rows - 1.
template <int kPackets, class Columns>
constexpr auto kTiles = []<int... kRowsLess1>(std::integer_sequence<int, kRowsLess1...>) {
  return std::array<TileFunction<Columns>, kPanelRows>{
      &MultiplyTile<kRowsLess1 + 1, kPackets, Columns>...};
}
(std::make_integer_sequence<int, kPanelRows>());

// One tile, of which only `size.n` columns belong to C.
template <int kPackets>
void MultiplyPanel(GemmSize size, const float* a, const float* panel, float* c, int64_t c_stride,
                   Update update) {
  const auto tile = kTiles<kPackets, PanelColumns<kPackets>>[static_cast<size_t>(size.m - 1)];
  const PanelColumns<kPackets> b{panel};
  if (size.n == kPackets * kPacketFloats) return tile(size.k, a, b, c, c_stride, update);
  std::array<float, kPanelRows * kPanelColumns> sums;
  tile(size.k, a, b, sums.data(), kPanelColumns, Update::kSet);
  for (int64_t row = 0; row < size.m; ++row) {
    const float* from = sums.data() + row * kPanelColumns;
    float* to = c + row * c_stride;
    if (update == Update::kSet) {
      std::copy_n(from, size.n, to);
    } else {
      for (int64_t i = 0; i < size.n; ++i) to[i] += from[i];
    }
  }
}

// to[i * to_stride + j] = scale * from[j * from_stride + i] for `count` i and kBlock j.
void TransposeBlock(const float* from, int64_t from_stride, int64_t count, float scale, float* to,
                    int64_t to_stride) {
  const BlockPacket factor = pset1<BlockPacket>(scale);
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    Eigen::internal::PacketBlock<BlockPacket, kBlock> block;
    for (int j = 0; j < kBlock; ++j) {
      block.packet[j] = pmul(factor, ploadu<BlockPacket>(from + j * from_stride + i));
    }
    Eigen::internal::ptranspose(block);
    for (int j = 0; j < kBlock; ++j) pstoreu(to + (i + j) * to_stride, block.packet[j]);
  }
  for (; i < count; ++i) {
    for (int j = 0; j < kBlock; ++j) to[i * to_stride + j] = scale * from[j * from_stride + i];
  }
}

// `width` rows of `count` elements become columns of a panel that is `panel_width` wide.
void PackTransposed(const float* from, int64_t from_stride, int64_t count, int64_t width,
                    float scale, float* panel, int64_t panel_width) {
  int64_t j = 0;
  for (; j + kBlock <= width; j += kBlock) {
    TransposeBlock(from + j * from_stride, from_stride, count, scale, panel + j, panel_width);
  }
  for (; j < width; ++j) {
    for (int64_t i = 0; i < count; ++i)
      panel[i * panel_width + j] = scale * from[j * from_stride + i];
  }
}

// `count` rows of `width` elements, as they are.
void PackStraight(const float* from, int64_t from_stride, int64_t count, int64_t width, float scale,
                  float* panel, int64_t panel_width) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < width; ++j)
      panel[i * panel_width + j] = scale * from[i * from_stride + j];
  }
}

// `count` rows of a whole panel.
void PackWide(const float* from, int64_t from_stride, int64_t count, float* panel) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < kPanelColumns; j += kPacketFloats) {
      pstoreu(panel + i * kPanelColumns + j, ploadu<FloatPacket>(from + i * from_stride + j));
    }
  }
}

}  // namespace

int64_t PanelDepth(int64_t k) {
  constexpr int64_t kMaxDepth = 256;
  constexpr int64_t kStep = 8;
  if (k <= kMaxDepth) return k;
  const int64_t passes = (k + kMaxDepth - 1) / kMaxDepth;
  return ((k + passes - 1) / passes + kStep - 1) / kStep * kStep;
}

void PackRows(int64_t m, int64_t k, GemmOperand a, float alpha, float* panels) {
  for (int64_t first = 0; first < m; first += kPanelRows) {
    const int64_t rows = std::min<int64_t>(kPanelRows, m - first);
    if (a.transposed) {
      PackStraight(a.data + first, a.stride, k, rows, alpha, panels, rows);
    } else {
      PackTransposed(a.data + first * a.stride, a.stride, k, rows, alpha, panels, rows);
    }
    panels += rows * k;
  }
}

void PackColumns(int64_t k, int64_t n, GemmOperand b, float* panels) {
  const int64_t padded = PaddedColumns(n);
  for (int64_t first = 0; first < n; first += kPanelColumns) {
    const int64_t width = PanelWidth(first, padded);
    const int64_t columns = std::min(width, n - first);
    if (columns < width) std::fill_n(panels, k * width, 0.0F);
    if (b.transposed) {
      PackTransposed(b.data + first * b.stride, b.stride, k, columns, 1, panels, width);
    } else if (columns == kPanelColumns) {
      PackWide(b.data + first, b.stride, k, panels);
    } else {
      PackStraight(b.data + first, b.stride, k, columns, 1, panels, width);
    }
    panels += width * k;
  }
}

void MultiplyPanels(GemmSize size, const float* a_panels, const float* b_panels, float* c,
                    int64_t c_stride, Update update) {
  const int64_t padded = PaddedColumns(size.n);
  for (int64_t i = 0; i < size.m; i += kPanelRows) {
    const int64_t rows = std::min<int64_t>(kPanelRows, size.m - i);
    // A's panel stays in the first cache while those of B pass by.
    for (int64_t j = 0; j < size.n; j += kPanelColumns) {
      const int64_t width = PanelWidth(j, padded);
      const GemmSize tile{rows, std::min(width, size.n - j), size.k};
      const auto multiply = width == kPanelColumns ? &MultiplyPanel<2> : &MultiplyPanel<1>;
      multiply(tile, a_panels + i * size.k, b_panels + j * size.k, c + i * c_stride + j, c_stride,
               update);
    }
  }
}

void MultiplyRows(GemmSize size, const float* a_panels, const float* b, const int64_t* b_offsets,
                  float* c, int64_t c_stride, Update update) {
  for (int64_t i = 0; i < size.m; i += kPanelRows) {
    const auto rows = static_cast<size_t>(std::min<int64_t>(kPanelRows, size.m - i));
    for (int64_t j = 0; j < size.n; j += kPanelColumns) {
      const bool wide = PanelWidth(j, size.n) == kPanelColumns;
      const auto tile = (wide ? kTiles<2, OffsetColumns> : kTiles<1, OffsetColumns>)[rows - 1];
      tile(size.k, a_panels + i * size.k, {b + j, b_offsets}, c + i * c_stride + j, c_stride,
           update);
    }
  }
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
