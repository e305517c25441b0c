// The table of vectorized operators of one operand, which eigen.cc joins with the others, and the
// same functions for runs of floats within other kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/ops/eigen_kernels.h"
#include "kernels/ops/elementwise/unary_functors.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

std::span<const EigenKernel> UnaryEigenKernels();

// Puts f(x) in the place of each of `count` values x.
using RowFunction = void (*)(float* values, int64_t count, Coefficients coefficients);
// The function of an activation by the name that FusedStep (kernels/graph/fusion.h) has for it, or
// null.
RowFunction FindRowFunction(std::string_view activation);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
