// The kernels of oneDNN, for builds that have it. Its code is made at run time for the CPU at hand;
// what it does not do is left to the Eigen kernels.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "kernels/ops/kernel.h"
#include "kernels/ops/layout.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {

// Its kernels may ask for fewer threads than the team has. Between one and all, libgomp then ends
// the others and starts new ones later, which are neither pinned nor counted.
inline constexpr int kMaxOnednnThreads = 2;

// FAILED_PRECONDITION / "NO_ONEDNN" when the library was not there at build time.
Status CheckOnednnIsBuilt();

// Bounds the code that oneDNN makes by `isa`. The library takes this once for the life of a
// process: FAILED_PRECONDITION / "ISA_IS_FIXED" when it was asked for another ISA before.
// "baseline" lets it use SSE4.1, its least. Also fails as CheckOnednnIsBuilt() does.
Status PrepareOnednn(Isa isa);

enum class ConvAlgorithm {
  kDirect,    // every product of the definition, but those with padding
  kWinograd,  // fewer products where the library can do so, direct elsewhere
  kAuto,      // the faster of both, by timing each shape once a process
};

struct OnednnOptions {
  int threads = 1;  // as in KernelOptions
  ConvAlgorithm conv_algorithm = ConvAlgorithm::kDirect;
  NodeLayouts layouts = {};  // of the node's operands, as OnednnLayouts() wants them
};

// As a KernelFactory.
using OnednnFactory = Result<std::unique_ptr<Kernel>> (*)(const NodeSignature& signature,
                                                          const OnednnOptions& options);

// The factory for that operator, or null. To be called after PrepareOnednn(). Factories refuse with
// "NO_KERNEL" what oneDNN does not do: other types than float32, tensors without elements, ...
OnednnFactory FindOnednnKernel(std::string_view op_type);

// The layouts that the kernel of the node would like best when its inputs now have those of `given`
// (by input). All row-major for nodes that are left to another backend.
NodeLayouts OnednnLayouts(const NodeSignature& signature, const OnednnOptions& options,
                          const std::vector<LayoutPtr>& given);

// Whether oneDNN has a kernel for the fused node with the layouts that it likes best, and by
// Winograd where it would have one so for the first part alone and options ask for it.
bool OnednnTakesFused(const NodeSignature& fused, const OnednnOptions& options);

}  // namespace tinyprof
