// A softmax over a contiguous row on Eigen; attention uses it too.
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// y = exp(x - max(x)) / sum, count > 0. y may be x.
inline void SoftmaxContiguous(const float* x, float* y, int64_t count) {
  const Eigen::Map<const Eigen::ArrayXf> in(x, count);
  Eigen::Map<Eigen::ArrayXf> out(y, count);
  const float largest = in.maxCoeff();
  out = (in - largest).exp();
  out *= 1.0F / out.sum();
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
