// InstanceNormalization and LRN: norms of an image's channels. Naive loops as templates on the
// scalar.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/ops/norm/reference.h"
#include "kernels/ops/op.h"

namespace tinyprof {

Result<std::vector<TensorType>> InferInstanceNorm(const NodeSignature& signature,
                                                  size_t output_count);
Result<std::vector<TensorType>> InferLrn(const NodeSignature& signature, size_t output_count);

// For each plane of n elements: mean n - 1 reductions and a division, variance n subtractions, n
// multiplications, n - 1 reductions and a division, then epsilon, a root, scale / root; for each
// element a multiplication and an addition.
Result<Cost> InstanceNormCost(const NodeSignature& signature);
// For each element: a square and an addition for each channel of its window but the first, alpha /
// size, bias, a power, a division.
Result<Cost> LrnCost(const NodeSignature& signature);

// y = (x - mean) * scale / sqrt(variance + epsilon) + bias over each plane.
template <class T>
void InstanceNormReference(const NodeSignature& signature, const KernelArgs& args) {
  using std::sqrt;
  const BatchNormDims dims = BatchNormDimsOf(signature);
  const T epsilon = T(signature.Float("epsilon", kDefaultEpsilon));
  const T width = T(static_cast<double>(dims.inner));
  for (int64_t plane = 0; plane < dims.batch * dims.channels && dims.inner > 0; ++plane) {
    const T* x = args.In<T>(0) + plane * dims.inner;
    T* y = args.Out<T>() + plane * dims.inner;
    const int64_t channel = plane % dims.channels;
    const T mean = SumOf<T>(dims.inner, [&](int64_t i) { return x[i]; }) / width;
    for (int64_t i = 0; i < dims.inner; ++i) y[i] = x[i] - mean;
    const T variance = SumOf<T>(dims.inner, [&](int64_t i) { return y[i] * y[i]; }) / width;
    const T factor = args.In<T>(1)[channel] / sqrt(variance + epsilon);
    for (int64_t i = 0; i < dims.inner; ++i) y[i] = y[i] * factor + args.In<T>(2)[channel];
  }
}

// The channels [begin, end) that the window of `channel` holds.
struct LrnWindow {
  int64_t begin = 0;
  int64_t end = 0;
};
inline LrnWindow LrnWindowOf(int64_t channel, int64_t size, int64_t channels) {
  return {std::max<int64_t>(channel - (size - 1) / 2, 0),
          std::min<int64_t>(channel + size / 2 + 1, channels)};
}

// y = x / (bias + alpha / size * sum of squares over neighbouring channels) ^ beta.
template <class T>
void LrnReference(const NodeSignature& signature, const KernelArgs& args) {
  using std::pow;
  const BatchNormDims dims = BatchNormDimsOf(signature);
  const int64_t size = signature.Int("size", 1);
  const T alpha =
      T(static_cast<double>(signature.Float("alpha", 1e-4F)) / static_cast<double>(size));
  const T beta = T(signature.Float("beta", 0.75F));
  const T bias = T(signature.Float("bias", 1));
  for (int64_t plane = 0; plane < dims.batch * dims.channels; ++plane) {
    const int64_t channel = plane % dims.channels;
    const T* image = args.In<T>(0) + (plane - channel) * dims.inner;
    const LrnWindow window = LrnWindowOf(channel, size, dims.channels);
    for (int64_t i = 0; i < dims.inner; ++i) {
      const T sum = SumOf<T>(window.end - window.begin, [&](int64_t k) {
        const T x = image[(window.begin + k) * dims.inner + i];
        return x * x;
      });
      args.Out<T>()[plane * dims.inner + i] =
          image[channel * dims.inner + i] / pow(bias + alpha * sum, beta);
    }
  }
}

}  // namespace tinyprof
