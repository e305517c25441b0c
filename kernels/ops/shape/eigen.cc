#include "kernels/ops/eigen_families.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// None: kernels.h has the one implementation of each operator that moves elements.
std::span<const EigenKernel> ShapeEigenKernels() { return {}; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
