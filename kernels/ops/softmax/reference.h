// The naive loops of Softmax and LogSoftmax, as templates on the scalar.
#pragma once

#include <cmath>

#include "kernels/graph/graph.h"
#include "kernels/ops/kernel.h"
#include "kernels/ops/scalar_math.h"
#include "kernels/ops/softmax/softmax.h"

namespace tinyprof {

// The largest of `count` > 0 elements that lie `stride` apart.
template <class T>
T MaxOf(const T* x, int64_t count, int64_t stride) {
  T largest = x[0];
  for (int64_t i = 1; i < count; ++i) largest = Max(largest, x[i * stride]);
  return largest;
}

// y = exp(x - max(x)) / sum, over `count` > 0 elements that lie `stride` apart. y may be x.
template <class T>
void SoftmaxRow(const T* x, T* y, int64_t count, int64_t stride) {
  using std::exp;
  const T largest = MaxOf(x, count, stride);
  y[0] = exp(x[0] - largest);
  T sum = y[0];
  for (int64_t i = 1; i < count; ++i) {
    y[i * stride] = exp(x[i * stride] - largest);
    sum += y[i * stride];
  }
  for (int64_t i = 0; i < count; ++i) y[i * stride] = y[i * stride] / sum;
}

// y = x - max(x) - log(sum of exp(x - max(x))).
template <class T>
void LogSoftmaxRow(const T* x, T* y, int64_t count, int64_t stride) {
  using std::exp, std::log;
  const T largest = MaxOf(x, count, stride);
  y[0] = x[0] - largest;
  T sum = exp(y[0]);
  for (int64_t i = 1; i < count; ++i) {
    y[i * stride] = x[i * stride] - largest;
    sum += exp(y[i * stride]);
  }
  const T log_sum = log(sum);
  for (int64_t i = 0; i < count; ++i) y[i * stride] = y[i * stride] - log_sum;
}

template <class T, void (*row)(const T*, T*, int64_t, int64_t)>
void EachSoftmaxRow(const NodeSignature& signature, const KernelArgs& args) {
  const SoftmaxDims dims = SoftmaxDimsOf(signature);
  for (int64_t outer = 0; outer < dims.outer && dims.axis > 0; ++outer) {
    for (int64_t inner = 0; inner < dims.inner; ++inner) {
      const int64_t begin = outer * dims.axis * dims.inner + inner;
      row(args.In<T>(0) + begin, args.Out<T>() + begin, dims.axis, dims.inner);
    }
  }
}

template <class T>
void SoftmaxReference(const NodeSignature& signature, const KernelArgs& args) {
  EachSoftmaxRow<T, &SoftmaxRow<T>>(signature, args);
}

template <class T>
void LogSoftmaxReference(const NodeSignature& signature, const KernelArgs& args) {
  EachSoftmaxRow<T, &LogSoftmaxRow<T>>(signature, args);
}

}  // namespace tinyprof
