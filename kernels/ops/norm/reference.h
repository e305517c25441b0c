// The naive loops of the normalizations, as templates on the scalar.
#pragma once

#include <cmath>

#include "kernels/graph/graph.h"
#include "kernels/ops/kernel.h"
#include "kernels/ops/norm/norm.h"

namespace tinyprof {

// y = x * factor + offset by channel, with factor = scale / sqrt(variance + epsilon) and offset =
// bias - mean * factor. These depend on weights alone, so they are worked out in plain double: they
// are not what the operator costs.
template <class T>
void BatchNormReference(const NodeSignature& signature, const KernelArgs& args) {
  const BatchNormDims dims = BatchNormDimsOf(signature);
  const double epsilon = signature.Float("epsilon", kDefaultEpsilon);
  const auto weight = [&](size_t input, int64_t channel) {
    return static_cast<double>(args.In<T>(input)[channel]);
  };
  for (int64_t c = 0; c < dims.channels; ++c) {
    const double factor = weight(1, c) / std::sqrt(weight(4, c) + epsilon);
    const T scale = static_cast<T>(factor);
    const T shift = static_cast<T>(weight(2, c) - weight(3, c) * factor);
    for (int64_t n = 0; n < dims.batch; ++n) {
      const int64_t begin = (n * dims.channels + c) * dims.inner;
      for (int64_t i = begin; i < begin + dims.inner; ++i) {
        args.Out<T>()[i] = args.In<T>(0)[i] * scale + shift;
      }
    }
  }
}

// The sum of term(0), ..., term(count - 1), count > 0, with count - 1 additions.
template <class T, class Term>
T SumOf(int64_t count, Term term) {
  T sum = term(0);
  for (int64_t i = 1; i < count; ++i) sum += term(i);
  return sum;
}

// Element `row` of an optional output.
template <class T>
void WriteStatistic(const KernelArgs& args, size_t output, int64_t row, T value) {
  if (output < args.outputs.size() && args.outputs[output].data != nullptr) {
    args.Out<T>(output)[row] = value;
  }
}

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias over each row; the optional outputs are
// the means and the inverse deviations.
template <class T>
void LayerNormReference(const NodeSignature& signature, const KernelArgs& args) {
  using std::sqrt;
  const LayerNormDims dims = LayerNormDimsOf(signature);
  const T epsilon = T(signature.Float("epsilon", kDefaultEpsilon));
  const T width = T(static_cast<double>(dims.width));
  const T* scale = args.In<T>(1);
  const T* bias = args.has_input(2) ? args.In<T>(2) : nullptr;
  for (int64_t row = 0; row < dims.rows; ++row) {
    const T* x = args.In<T>(0) + row * dims.width;
    T* y = args.Out<T>() + row * dims.width;
    const T mean = SumOf<T>(dims.width, [&](int64_t i) { return x[i]; }) / width;
    for (int64_t i = 0; i < dims.width; ++i) y[i] = x[i] - mean;
    const T variance = SumOf<T>(dims.width, [&](int64_t i) { return y[i] * y[i]; }) / width;
    const T inverse_deviation = T(1) / sqrt(variance + epsilon);
    for (int64_t i = 0; i < dims.width; ++i) {
      y[i] = y[i] * inverse_deviation * scale[i];
      if (bias != nullptr) y[i] += bias[i];
    }
    WriteStatistic(args, 1, row, mean);
    WriteStatistic(args, 2, row, inverse_deviation);
  }
}

}  // namespace tinyprof
