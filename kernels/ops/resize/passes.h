// The loops of a Resize, as templates on the scalar; included by the naive and the Eigen kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/ops/resize/resize.h"

namespace tinyprof {

// Rows [begin, end) of the pass, a row for each outer index and output position.
template <class T>
void RunRows(const ResizePass& pass, const T* x, T* y, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const int64_t place = row % pass.output * pass.taps;
    const T* from = x + row / pass.output * pass.input * pass.inner;
    T* to = y + row * pass.inner;
    for (int64_t tap = 0; tap < pass.taps; ++tap) {
      const auto at = static_cast<size_t>(place + tap);
      const T weight = T(pass.weights[at]);
      const T* source = from + pass.indices[at] * pass.inner;
      if (tap == 0) {
        for (int64_t i = 0; i < pass.inner; ++i) to[i] = source[i] * weight;
      } else {
        for (int64_t i = 0; i < pass.inner; ++i) to[i] += source[i] * weight;
      }
    }
  }
}

// The same for one tap of weight 1.
template <class E>
void CopyRows(const ResizePass& pass, const E* x, E* y, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const int64_t index = pass.indices[static_cast<size_t>(row % pass.output)];
    std::copy_n(x + (row / pass.output * pass.input + index) * pass.inner, pass.inner,
                y + row * pass.inner);
  }
}

// Puts the extrapolation value where the sampled place is outside of the input.
template <class T>
void FillOutside(const ResizePlan& plan, T* y) {
  if (plan.outside.empty()) return;
  const int64_t count = plan.output.element_count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    bool outside = false;
    for (size_t d = plan.outside.size(); d-- > 0;) {
      outside = outside || plan.outside[d][static_cast<size_t>(rest % plan.output[d])];
      rest /= plan.output[d];
    }
    if (outside) y[i] = static_cast<T>(plan.extrapolation_value);
  }
}

// Calls run(pass, from, to) for each pass; between them the tensors are in `scratch`, which has
// room for two of plan.between_count() elements.
template <class T, class Run>
void RunPasses(const ResizePlan& plan, const T* x, T* y, T* scratch, const Run& run) {
  if (plan.passes.empty()) std::copy_n(x, plan.output.element_count(), y);
  const T* from = x;
  for (size_t i = 0; i < plan.passes.size(); ++i) {
    const bool is_last = i + 1 == plan.passes.size();
    T* to = is_last ? y : scratch + (i % 2 == 0 ? 0 : plan.between_count());
    run(plan.passes[i], from, to);
    from = to;
  }
}

}  // namespace tinyprof
