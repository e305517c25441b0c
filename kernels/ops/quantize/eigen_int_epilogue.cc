#include "kernels/ops/quantize/eigen_int_epilogue.h"

#include <algorithm>
#include <array>

#include "kernels/ops/quantize/eigen_int_gemm.h"
#include "kernels/ops/quantize/eigen_quantize_row.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

template <class Q>
void QuantizeRow(int64_t count, const int32_t* __restrict sums, uint32_t bias,
                 const float* __restrict factors, int32_t zero, Q* __restrict out) {
  for (int64_t i = 0; i < count; ++i) {
    const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + bias);
    out[i] = Rounded<Q>(static_cast<float>(sum) * factors[i], zero);
  }
}

}  // namespace

IntEpilogue::IntEpilogue(const NodeSignature& signature, const ProductRoles& roles,
                         Channels channels)
    : is_linear_(roles.is_linear),
      has_bias_(roles.bias != 0 && signature.has_input(roles.bias)),
      to_int8_(signature.output().dtype == DType::kInt8),
      channels_(channels) {}

void IntEpilogue::Run(const KernelArgs& args, const int32_t* sums, const IntTile& tile) const {
  if (is_linear_) {
    return to_int8_ ? Quantize<int8_t>(args, sums, tile) : Quantize<uint8_t>(args, sums, tile);
  }
  for (int64_t i = 0; i < tile.rows; ++i) {
    std::copy_n(sums + i * kIntPanelColumns, tile.columns,
                args.Out<int32_t>() + tile.begin + i * tile.stride);
  }
}

template <class Q>
void IntEpilogue::Quantize(const KernelArgs& args, const int32_t* sums, const IntTile& tile) const {
  const int32_t zero = ZeroAt(args.inputs[kLinearRoles.y_zero], 0);
  std::array<float, kIntPanelColumns> factors;
  if (channels_ == Channels::kAreColumns) {
    for (int64_t j = 0; j < tile.columns; ++j) {
      factors[static_cast<size_t>(j)] = FactorAt(args, tile.channel + j);
    }
  }
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int32_t* row = sums + i * kIntPanelColumns;
    Q* out = args.Out<Q>() + tile.begin + i * tile.stride;
    uint32_t bias = 0;
    if (channels_ == Channels::kAreRows) {
      std::fill_n(factors.begin(), tile.columns, FactorAt(args, tile.channel + i));
      if (has_bias_) bias = args.In<uint32_t>(kLinearRoles.bias)[tile.channel + i];
    }
    QuantizeRow(tile.columns, row, bias, factors.data(), zero, out);
  }
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
