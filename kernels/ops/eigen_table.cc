#include <array>
#include <vector>

#include "kernels/ops/eigen_families.h"

namespace {

using tinyprof::EigenKernel;

std::vector<EigenKernel> JoinFamilies() {
  namespace isa = tinyprof::TINYPROF_ISA_NAMESPACE;
  constexpr std::array kFamilies = {
      &isa::MatmulEigenKernels,    &isa::ConvEigenKernels,      &isa::PoolEigenKernels,
      &isa::NormEigenKernels,      &isa::SoftmaxEigenKernels,   &isa::ElementwiseEigenKernels,
      &isa::ReduceEigenKernels,    &isa::EmbeddingEigenKernels, &isa::AttentionEigenKernels,
      &isa::RecurrentEigenKernels, &isa::ShapeEigenKernels,     &isa::QuantizeEigenKernels,
      &isa::ResizeEigenKernels,    &isa::EinsumEigenKernels,    &isa::SignalEigenKernels,
  };
  std::vector<EigenKernel> all;
  for (const auto family : kFamilies) {
    for (const EigenKernel& kernel : family()) all.push_back(kernel);
  }
  return all;
}

}  // namespace

#define TINYPROF_ENTRY_INNER(isa) tinyprof_eigen_kernels_##isa
#define TINYPROF_ENTRY(isa) TINYPROF_ENTRY_INNER(isa)

// The one symbol that an ISA's objects export.
extern "C" void TINYPROF_ENTRY(TINYPROF_ISA_NAMESPACE)(const EigenKernel** kernels, size_t* count) {
  static const std::vector<EigenKernel> table = JoinFamilies();
  *kernels = table.data();
  *count = table.size();
}
