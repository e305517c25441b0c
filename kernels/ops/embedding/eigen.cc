#include "kernels/ops/eigen_families.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// None: gather.h has the one implementation of Gather.
std::span<const EigenKernel> EmbeddingEigenKernels() { return {}; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
