// A matrix product as anybody would write it with Eigen; its own file is compiled with
// -march=native.
#pragma once

#include <cstdint>

namespace tinyprof::bench {

// c = a * b, all n x n and row-major, by one thread.
void PlainEigenGemm(const float* a, const float* b, float* c, int64_t n);

}  // namespace tinyprof::bench
