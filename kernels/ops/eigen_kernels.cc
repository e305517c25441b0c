#include "kernels/ops/eigen_kernels.h"

#include <span>

// Each is the only symbol that the merged object of its ISA exports; see isa_objects.cmake.
#define TINYPROF_DECLARE_ISA(isa) \
  extern "C" void tinyprof_eigen_kernels_##isa(const tinyprof::EigenKernel** kernels, size_t* count)

TINYPROF_DECLARE_ISA(baseline);
#if defined(__x86_64__)
TINYPROF_DECLARE_ISA(avx2);
TINYPROF_DECLARE_ISA(avx512);
#endif

namespace tinyprof {
namespace {

std::span<const EigenKernel> KernelsOf(Isa isa) {
  const EigenKernel* kernels = nullptr;
  size_t count = 0;
  switch (isa) {
    case Isa::kBaseline:
      tinyprof_eigen_kernels_baseline(&kernels, &count);
      break;
#if defined(__x86_64__)
    case Isa::kAvx2:
      tinyprof_eigen_kernels_avx2(&kernels, &count);
      break;
    case Isa::kAvx512:
      tinyprof_eigen_kernels_avx512(&kernels, &count);
      break;
#else
    case Isa::kAvx2:
    case Isa::kAvx512:
      break;
#endif
  }
  return {kernels, count};
}

}  // namespace

const EigenKernel* FindEigenKernel(Isa isa, std::string_view op_type) {
  for (const EigenKernel& kernel : KernelsOf(isa)) {
    if (kernel.op_type == op_type) return &kernel;
  }
  return nullptr;
}

}  // namespace tinyprof
