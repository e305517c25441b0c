#include "tests/bench/plain_eigen.h"

#include <Eigen/Core>

namespace tinyprof::bench {

void PlainEigenGemm(const float* a, const float* b, float* c, int64_t n) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Matrix>(c, n, n).noalias() =
      Eigen::Map<const Matrix>(a, n, n) * Eigen::Map<const Matrix>(b, n, n);
}

}  // namespace tinyprof::bench
