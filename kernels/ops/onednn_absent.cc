// Stands in for all files on oneDNN where the build has none.
#include "kernels/ops/onednn_kernels.h"

namespace tinyprof {

Status CheckOnednnIsBuilt() {
  return Fail(ErrorCode::kFailedPrecondition, "NO_ONEDNN",
              "this build has no oneDNN kernels: install libdnnl-dev and build again, or use the "
              "eigen backend");
}

Status PrepareOnednn(Isa /*isa*/) { return CheckOnednnIsBuilt(); }

OnednnFactory FindOnednnKernel(std::string_view /*op_type*/) { return nullptr; }

NodeLayouts OnednnLayouts(const NodeSignature& /*signature*/, const OnednnOptions& /*options*/,
                          const std::vector<LayoutPtr>& /*given*/) {
  return {};
}

bool OnednnTakesFused(const NodeSignature& /*fused*/, const OnednnOptions& /*options*/) {
  return false;
}

}  // namespace tinyprof
