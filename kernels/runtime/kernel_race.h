// Times every kernel that there is for a node, alone on operands of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

// One kernel of a race.
struct KernelTiming {
  KernelChoice choice;
  std::string implementation;  // as Kernel::implementation()
  double median_ns = 0;
  // Of rearranging its inputs and outputs from and to row-major, beside median_ns; 0 where it works
  // on row-major operands.
  double reorder_ns = 0;
};

// Naive kernels of nodes with more operations on numbers than this, FLOPs or on integers, take too
// long to be tried.
inline constexpr int64_t kMostNaiveFlops = 10'000'000;

// Remembers what it has timed: nodes that differ in their values only run the same. Used by the
// thread that runs the sessions.
class KernelRace {
 public:
  // `options` tell the ISA, the threads, the memory limit, and whether Winograd's convolution may
  // be taken (kAuto) or not (kDirect). `onednn`: whether its kernels may be tried.
  KernelRace(const SessionOptions& options, bool onednn);

  // Fastest first, by median_ns; each implementation once. Fails as Session::Create() does where no
  // kernel can run the node.
  Result<std::vector<KernelTiming>> Of(const Graph& graph, const Node& node);

 private:
  std::vector<KernelChoice> ContestantsFor(const NodeSignature& signature) const;

  SessionOptions options_;
  bool onednn_;
  std::map<std::string, std::vector<KernelTiming>> known_;
};

}  // namespace tinyprof
