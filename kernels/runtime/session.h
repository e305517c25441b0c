// A graph made ready to run: kernels chosen, weights made, memory laid out.
//
// Life: Create, then RunNode(0..node_count-1) in order, or RunAll(), as often as wanted. Used by
// one thread, which is the master of the OpenMP team.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/ops/kernel.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/runtime/isa.h"
#include "kernels/runtime/memory_plan.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {

enum class Backend {
  kReference,
  kEigen,
  kOnednn,
  kBest,  // for each node the one that was found to be fastest (best_plan.h)
};
// "reference", "eigen", "onednn", "best".
std::string_view Name(Backend backend);
// INVALID_ARGUMENT / "UNKNOWN_BACKEND" lists the names there are.
Result<Backend> BackendFromName(std::string_view name);

// Which kernel is to run a node.
struct KernelChoice {
  Backend backend = Backend::kEigen;                      // none is kBest
  ConvAlgorithm conv_algorithm = ConvAlgorithm::kDirect;  // of kOnednn
  bool operator==(const KernelChoice&) const = default;
};

struct SessionOptions {
  Backend backend = Backend::kEigen;
  Isa isa = Isa::kBaseline;
  int threads = 1;
  ConvAlgorithm conv_algorithm = ConvAlgorithm::kDirect;  // of kOnednn
  // By node, for kBest; empty with the other backends.
  std::vector<KernelChoice> choices;
  // By ValueId, as PlanLayouts() (layout_plan.h) gave them with the graph; empty: all row-major.
  std::vector<LayoutPtr> layouts;
  // RESOURCE_EXHAUSTED / "MODEL_TOO_LARGE" when weights, their packed copies and the arena pass
  // this; checked before allocating.
  int64_t memory_limit_bytes = INT64_MAX;
};

// The choice of each node.
KernelChoice ChoiceOf(const SessionOptions& options, size_t node);

// Whether this many threads can run what was chosen, with everything ready for it:
// INVALID_ARGUMENT / "BAD_THREADS"; with oneDNN also fails as PrepareOnednn() does
// (kernels/ops/onednn_kernels.h).
Status CheckTeam(const SessionOptions& options);

class Session {
 public:
  // `graph` must outlive the session. Fails as CheckTeam() does.
  static Result<std::unique_ptr<Session>> Create(const Graph& graph, const SessionOptions& options);

  size_t node_count() const { return graph_->nodes.size(); }
  const Graph& graph() const { return *graph_; }
  const SessionOptions& options() const { return options_; }
  const MemoryPlan& plan() const { return plan_; }
  int64_t weight_bytes() const { return weight_bytes_; }
  // Copies of weights that kernels keep in an arrangement of their own: of all nodes, of one.
  int64_t packed_bytes() const { return packed_bytes_; }
  int64_t packed_bytes(size_t node) const;
  const Kernel& kernel(size_t node) const { return *kernels_[node].kernel; }
  // Whose kernel runs the node: not the session's own where that has none for it.
  Backend backend(size_t node) const { return kernels_[node].backend; }

  void RunNode(size_t node) noexcept;
  void RunAll() noexcept;

  // Fills every graph input from its Fill. Inputs keep their slots for the whole pass only if
  // nothing may overwrite them: the plan lets no value share memory with a graph input.
  void FillInputs() noexcept;
  TensorView input(size_t index);
  ConstTensorView output(size_t index) const;
  // What the node gave, until a later node takes its memory; null data for an output it does not
  // have.
  ConstTensorView node_output(size_t node, size_t index) const;

  // Every block of memory that a pass reads or writes: weights, packed copies, the arena.
  std::vector<std::span<const std::byte>> memory_blocks() const;

 private:
  struct NodeBinding {
    std::vector<ConstTensorView> inputs;
    std::vector<TensorView> outputs;
    std::span<std::byte> scratch;
  };
  struct ChosenKernel {
    std::unique_ptr<Kernel> kernel;
    Backend backend;
  };

  Session() = default;
  Status MakeWeights(const SessionOptions& options);
  static Result<ChosenKernel> ChooseKernel(const NodeSignature& signature,
                                           const SessionOptions& options, KernelChoice choice);
  Status MakeKernels(const SessionOptions& options);
  // Lets kernels write their copies of weights.
  Status PackWeights();
  Status MakeArena(const SessionOptions& options);
  // What the nodes cost, when a stand-in PMU wants to know.
  Status MakeDeclarations();
  void Bind();
  // Declares the FLOPs of a node, an even share on each thread of the team.
  void DeclareNode(size_t node) const noexcept;
  // Where the elements of a value live.
  std::byte* DataOf(ValueId id);

  const Graph* graph_ = nullptr;
  SessionOptions options_;
  MemoryPlan plan_;
  int64_t weight_bytes_ = 0;
  int64_t packed_bytes_ = 0;
  std::vector<Buffer> weights_;  // by ValueId; empty for what is no initializer
  std::vector<Buffer> packed_;   // by node; empty where the kernel packs nothing
  Buffer arena_;
  std::vector<ChosenKernel> kernels_;
  std::vector<NodeBinding> bindings_;
  std::vector<int64_t> declared_flops_;  // by node; empty without a stand-in PMU
};

}  // namespace tinyprof
