#include <fmt/format.h>

#include <array>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "kernels/base/check.h"
#include "kernels/graph/fusion.h"
#include "kernels/ops/onednn_families.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/ops/onednn_primitive.h"

namespace tinyprof {
namespace {

constexpr std::array kFamilies = {
    &MatmulOnednnKernels,  &ConvOnednnKernels,        &PoolOnednnKernels,    &NormOnednnKernels,
    &SoftmaxOnednnKernels, &ElementwiseOnednnKernels, &ReorderOnednnKernels, &QuantizeOnednnKernels,
};

// Whether the library accepted the bound. Elsewhere than on x86-64 there is nothing to choose.
bool BoundIsa([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  // With the dot products of 8-bit integers, where the CPU has them: float32 runs no other code.
  constexpr std::array kBounds = {dnnl::cpu_isa::sse41, dnnl::cpu_isa::avx2,
                                  dnnl::cpu_isa::avx512_core_vnni};
  return dnnl::set_max_cpu_isa(kBounds[static_cast<size_t>(isa)]) == dnnl::status::success;
#else
  return true;
#endif
}

const OnednnKernel* Find(std::string_view op_type) {
  for (const auto family : kFamilies) {
    for (const OnednnKernel& kernel : family()) {
      if (kernel.op_type == op_type) return &kernel;
    }
  }
  return nullptr;
}

// What PrepareOnednn() was asked for first.
struct FixedIsa {
  std::mutex mutex;
  std::optional<Isa> isa;
};
FixedIsa& TheFixedIsa() {
  static FixedIsa fixed;
  return fixed;
}

}  // namespace

Status CheckOnednnIsBuilt() { return {}; }

Status PrepareOnednn(Isa isa) {
  FixedIsa& fixed = TheFixedIsa();
  const std::lock_guard lock(fixed.mutex);
  if (fixed.isa == isa) return {};
  if (!fixed.isa && BoundIsa(isa)) {
    fixed.isa = isa;
    return {};
  }
  return Fail(ErrorCode::kFailedPrecondition, "ISA_IS_FIXED",
              fmt::format("oneDNN was used in this process with another instruction set than {}; "
                          "start a new process",
                          Name(isa)),
              {{"isa", std::string(Name(isa))}});
}

Isa onednn::PreparedIsa() {
  FixedIsa& fixed = TheFixedIsa();
  const std::lock_guard lock(fixed.mutex);
  TINYPROF_CHECK(fixed.isa.has_value());
  return *fixed.isa;
}

OnednnFactory FindOnednnKernel(std::string_view op_type) {
  const OnednnKernel* kernel = Find(op_type);
  return kernel == nullptr ? nullptr : kernel->factory;
}

NodeLayouts OnednnLayouts(const NodeSignature& signature, const OnednnOptions& options,
                          const std::vector<LayoutPtr>& given) {
  const OnednnKernel* kernel = Find(signature.node->op_type);
  if (kernel == nullptr || kernel->layouts == nullptr) return {};
  if (!onednn::CheckAnyOperands(signature).has_value()) return {};
  OnednnOptions wanted = options;
  wanted.layouts = {.inputs = given, .outputs = {}};
  const onednn::TeamSize team(options.threads);
  try {
    wanted.layouts = kernel->layouts(signature, wanted);
  } catch (const dnnl::error&) {
    return {};  // what takes no such node has no wish
  }
  // A wish that the kernel then refuses is none.
  return kernel->factory(signature, wanted).has_value() ? wanted.layouts : NodeLayouts{};
}

bool OnednnTakesFused(const NodeSignature& fused, const OnednnOptions& options) {
  const OnednnKernel* kernel = Find(fused.node->op_type);
  if (kernel == nullptr || !kernel->takes_fused) return false;
  const auto make = [&](const NodeSignature& signature, ConvAlgorithm algorithm) {
    OnednnOptions wanted = options;
    wanted.conv_algorithm = algorithm;
    wanted.layouts = OnednnLayouts(signature, wanted, {});
    return kernel->factory(signature, wanted);
  };
  if (options.conv_algorithm == ConvAlgorithm::kDirect) {
    return make(fused, ConvAlgorithm::kDirect).has_value();
  }
  const auto head = make(PartSignature(fused, 0), ConvAlgorithm::kWinograd);
  const auto whole = make(fused, ConvAlgorithm::kWinograd);
  const auto is_winograd = [](const std::unique_ptr<Kernel>& made) {
    return made->implementation().find("wino") != std::string::npos;
  };
  return whole && (!head || !is_winograd(*head) || is_winograd(*whole));
}

}  // namespace tinyprof
