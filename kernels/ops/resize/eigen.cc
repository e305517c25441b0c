#include <array>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/resize/eigen_resize.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

constexpr std::array kKernels = {EigenKernel{"Resize", MakeResize},
                                 EigenKernel{"GridSample", MakeGridSample}};

}  // namespace

std::span<const EigenKernel> ResizeEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
