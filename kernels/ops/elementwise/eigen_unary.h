// The table of vectorized operators of one operand; eigen.cc joins it with the others.
#pragma once

#include <span>

#include "kernels/ops/eigen_kernels.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

std::span<const EigenKernel> UnaryEigenKernels();

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
