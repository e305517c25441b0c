#include <fmt/format.h>

#include <array>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_kernels.h"

namespace tinyprof {
namespace {

constexpr std::array kFamilies = {
    &MatmulOnednnKernels, &ConvOnednnKernels,    &PoolOnednnKernels,
    &NormOnednnKernels,   &SoftmaxOnednnKernels, &ElementwiseOnednnKernels,
};

// Whether the library accepted the bound. Elsewhere than on x86-64 there is nothing to choose.
bool BoundIsa([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  constexpr std::array kBounds = {dnnl::cpu_isa::sse41, dnnl::cpu_isa::avx2,
                                  dnnl::cpu_isa::avx512_core};
  return dnnl::set_max_cpu_isa(kBounds[static_cast<size_t>(isa)]) == dnnl::status::success;
#else
  return true;
#endif
}

}  // namespace

Status CheckOnednnIsBuilt() { return {}; }

Status PrepareOnednn(Isa isa) {
  static std::mutex mutex;
  static std::optional<Isa> fixed;
  const std::lock_guard lock(mutex);
  if (fixed == isa) return {};
  if (!fixed && BoundIsa(isa)) {
    fixed = isa;
    return {};
  }
  return Fail(ErrorCode::kFailedPrecondition, "ISA_IS_FIXED",
              fmt::format("oneDNN was used in this process with another instruction set than {}; "
                          "start a new process",
                          Name(isa)),
              {{"isa", std::string(Name(isa))}});
}

OnednnFactory FindOnednnKernel(std::string_view op_type) {
  for (const auto family : kFamilies) {
    for (const OnednnKernel& kernel : family()) {
      if (kernel.op_type == op_type) return kernel.factory;
    }
  }
  return nullptr;
}

}  // namespace tinyprof
