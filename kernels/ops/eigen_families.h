// What every family's eigen.cc exports. These files and eigen_table.cc are compiled once for each
// ISA, with TINYPROF_ISA_NAMESPACE set to its name; isa_objects.cmake then hides all symbols of an
// ISA's objects but one, so that no inline function of Eigen or the standard library compiled for
// AVX-512 can be linked into code that runs on a lesser machine.
#pragma once

#include <span>

#include "kernels/ops/eigen_kernels.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

std::span<const EigenKernel> MatmulEigenKernels();
std::span<const EigenKernel> ConvEigenKernels();
std::span<const EigenKernel> PoolEigenKernels();
std::span<const EigenKernel> NormEigenKernels();
std::span<const EigenKernel> SoftmaxEigenKernels();
std::span<const EigenKernel> ElementwiseEigenKernels();
std::span<const EigenKernel> ReduceEigenKernels();
std::span<const EigenKernel> EmbeddingEigenKernels();
std::span<const EigenKernel> AttentionEigenKernels();
std::span<const EigenKernel> RecurrentEigenKernels();
std::span<const EigenKernel> ShapeEigenKernels();
std::span<const EigenKernel> QuantizeEigenKernels();
std::span<const EigenKernel> ResizeEigenKernels();
std::span<const EigenKernel> EinsumEigenKernels();
std::span<const EigenKernel> SignalEigenKernels();

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
