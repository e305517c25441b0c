#include "kernels/runtime/session.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "kernels/base/check.h"
#include "kernels/base/checked_math.h"
#include "kernels/base/declared_work.h"
#include "kernels/base/words.h"
#include "kernels/ops/make_kernel.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/ops/op.h"
#include "kernels/ops/packing_kernel.h"

namespace tinyprof {
namespace {

// Fills `out` with the whole team, so that each thread touches its part of the pages first.
void FillInParallel(const Value& value, std::byte* out, int threads) {
  const int64_t count = value.type.shape.element_count();
  const int64_t element_bytes = ByteSize(value.type.dtype);
#pragma omp parallel num_threads(threads)
  {
    const int64_t team = omp_get_num_threads();
    const int64_t rank = omp_get_thread_num();
    const int64_t begin = count / team * rank + std::min(count % team, rank);
    const int64_t end = begin + count / team + (rank < count % team ? 1 : 0);
    Materialize(value.fill, value.type.dtype, begin, end, out + begin * element_bytes);
  }
}

std::span<const std::byte> BytesOf(const Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.byte_size())};
}

Status CheckLimit(int64_t weight_bytes, int64_t packed_bytes, int64_t arena_bytes,
                  int64_t limit_bytes) {
  TINYPROF_ASSIGN_OR_RETURN(int64_t wanted, CheckedAdd(weight_bytes, packed_bytes));
  TINYPROF_ASSIGN_OR_RETURN(wanted, CheckedAdd(wanted, arena_bytes));
  if (wanted <= limit_bytes) return {};
  return Fail(
      ErrorCode::kResourceExhausted, "MODEL_TOO_LARGE",
      fmt::format("the model needs {} ({} of weights, {} of their packed copies, {} of activations "
                  "and scratch), {} more than the limit of {}; lower the batch or raise the limit",
                  SizeText(wanted), SizeText(weight_bytes), SizeText(packed_bytes),
                  SizeText(arena_bytes), SizeText(wanted - limit_bytes), SizeText(limit_bytes)),
      {{"wanted_bytes", std::to_string(wanted)}, {"limit_bytes", std::to_string(limit_bytes)}});
}

// The backends that are asked for a kernel, one after the other; the last has all of them.
std::vector<Backend> FallbacksOf(Backend backend) {
  if (backend == Backend::kOnednn) return {backend, Backend::kEigen, Backend::kReference};
  if (backend == Backend::kEigen) return {backend, Backend::kReference};
  return {Backend::kReference};
}

// The layouts of the node's operands.
NodeLayouts LayoutsOf(const Node& node, const SessionOptions& options) {
  NodeLayouts layouts;
  if (options.layouts.empty()) return layouts;
  const auto of = [&](ValueId id) {
    return id == kNoValue ? nullptr : options.layouts[static_cast<size_t>(id)];
  };
  for (const ValueId id : node.inputs) layouts.inputs.push_back(of(id));
  for (const ValueId id : node.outputs) layouts.outputs.push_back(of(id));
  return layouts;
}

// The kernel of that backend; "NO_KERNEL" where it has none.
Result<std::unique_ptr<Kernel>> MakeKernel(KernelChoice choice, const NodeSignature& signature,
                                           const SessionOptions& options) {
  const KernelOptions kernel_options{.threads = options.threads};
  if (choice.backend == Backend::kReference) return MakeNaiveKernel(signature, kernel_options);
  if (choice.backend == Backend::kEigen)
    return MakeEigenKernel(signature, kernel_options, options.isa);
  const std::string& op_type = signature.node->op_type;
  const OnednnFactory factory = FindOnednnKernel(op_type);
  if (factory == nullptr) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                fmt::format("the onednn backend has no {}", op_type));
  }
  return factory(signature, {.threads = options.threads,
                             .conv_algorithm = choice.conv_algorithm,
                             .layouts = LayoutsOf(*signature.node, options)});
}

constexpr std::array<std::pair<Backend, std::string_view>, 4> kNames = {{
    {Backend::kReference, "reference"},
    {Backend::kEigen, "eigen"},
    {Backend::kOnednn, "onednn"},
    {Backend::kBest, "best"},
}};

}  // namespace

std::string_view Name(Backend backend) { return kNames[static_cast<size_t>(backend)].second; }

Result<Backend> BackendFromName(std::string_view name) {
  for (const auto& [backend, backend_name] : kNames) {
    if (backend_name == name) return backend;
  }
  return Fail(ErrorCode::kInvalidArgument, "UNKNOWN_BACKEND",
              fmt::format("no backend is called '{}'; use reference, eigen, onednn or best", name),
              {{"backend", std::string(name)}});
}

KernelChoice ChoiceOf(const SessionOptions& options, size_t node) {
  if (!options.choices.empty()) return options.choices[node];
  return {.backend = options.backend, .conv_algorithm = options.conv_algorithm};
}

Status CheckTeam(const SessionOptions& options) {
  if (options.threads < 1) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_THREADS",
                fmt::format("threads must be at least 1, got {}", options.threads));
  }
  const bool runs_onednn =
      options.backend == Backend::kOnednn ||
      std::any_of(options.choices.begin(), options.choices.end(),
                  [](const KernelChoice& choice) { return choice.backend == Backend::kOnednn; });
  if (!runs_onednn) return {};
  if (options.threads > kMaxOnednnThreads) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_THREADS",
                fmt::format("the onednn backend runs on at most {} threads, got {}: larger teams "
                            "would lose pinned threads",
                            kMaxOnednnThreads, options.threads));
  }
  return PrepareOnednn(options.isa);
}

Result<std::unique_ptr<Session>> Session::Create(const Graph& graph,
                                                 const SessionOptions& options) {
  TINYPROF_CHECK(options.choices.size() ==
                 (options.backend == Backend::kBest ? graph.nodes.size() : 0));
  TINYPROF_RETURN_IF_ERROR(CheckTeam(options));
  std::unique_ptr<Session> session(new Session());
  session->graph_ = &graph;
  session->options_ = options;
  TINYPROF_RETURN_IF_ERROR(session->MakeWeights(options));
  TINYPROF_RETURN_IF_ERROR(session->MakeKernels(options));
  TINYPROF_RETURN_IF_ERROR(session->MakeArena(options));
  TINYPROF_RETURN_IF_ERROR(session->PackWeights());
  TINYPROF_RETURN_IF_ERROR(session->MakeDeclarations());
  session->Bind();
  session->FillInputs();
  return session;
}

Status Session::MakeWeights(const SessionOptions& options) {
  for (const Value& value : graph_->values) {
    if (value.kind != Value::Kind::kInitializer) continue;
    TINYPROF_ASSIGN_OR_RETURN(weight_bytes_, CheckedAdd(weight_bytes_, value.type.byte_size()));
  }
  // Kernels that look at their weights are made after these, and only they know their scratch: the
  // arena without scratch is what can be checked before the first allocation.
  const std::vector<int64_t> no_scratch(graph_->nodes.size());
  TINYPROF_ASSIGN_OR_RETURN(const MemoryPlan plan,
                            PlanMemory(*graph_, no_scratch, options.layouts));
  TINYPROF_RETURN_IF_ERROR(
      CheckLimit(weight_bytes_, 0, plan.arena_bytes, options.memory_limit_bytes));

  weights_.resize(graph_->values.size());
  for (size_t id = 0; id < weights_.size(); ++id) {
    const Value& value = graph_->values[id];
    if (value.kind != Value::Kind::kInitializer) continue;
    TINYPROF_ASSIGN_OR_RETURN(weights_[id], Buffer::Create(value.type.byte_size()));
    FillInParallel(value, weights_[id].data(), options.threads);
  }
  return {};
}

Result<Session::ChosenKernel> Session::ChooseKernel(const NodeSignature& signature,
                                                    const SessionOptions& options,
                                                    KernelChoice choice) {
  // Only the backend that made a layout can read it.
  const std::vector<Backend> backends = LayoutsOf(*signature.node, options).AllRowMajor()
                                            ? FallbacksOf(choice.backend)
                                            : std::vector{choice.backend};
  for (const Backend backend : backends) {
    Result<std::unique_ptr<Kernel>> kernel =
        MakeKernel({backend, choice.conv_algorithm}, signature, options);
    if (kernel) return ChosenKernel{*std::move(kernel), backend};
    if (kernel.error().reason == "NO_KERNEL" && backend != backends.back()) continue;
    return tl::unexpected<Error>(std::move(kernel).error());
  }
  return Fail(ErrorCode::kInternal, "NO_KERNEL", "no backend has been asked");
}

Status Session::MakeKernels(const SessionOptions& options) {
  for (const Node& node : graph_->nodes) {
    NodeSignature signature = SignatureOf(*graph_, node, true);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!signature.inputs[i].is_weight) continue;
      signature.inputs[i].data = weights_[static_cast<size_t>(node.inputs[i])].data();
    }
    Result<ChosenKernel> kernel =
        ChooseKernel(signature, options, ChoiceOf(options, kernels_.size()));
    if (!kernel) {
      Error error = std::move(kernel).error();
      error.message = fmt::format("layer {}: {}", node.name, error.message);
      error.metadata["layer"] = node.name;
      return tl::unexpected<Error>(std::move(error));
    }
    kernels_.push_back(*std::move(kernel));
    TINYPROF_ASSIGN_OR_RETURN(packed_bytes_,
                              CheckedAdd(packed_bytes_, packed_bytes(kernels_.size() - 1)));
  }
  return {};
}

Status Session::MakeArena(const SessionOptions& options) {
  std::vector<int64_t> scratch_bytes;
  std::vector<std::optional<size_t>> overwritten;
  for (const ChosenKernel& chosen : kernels_) {
    scratch_bytes.push_back(chosen.kernel->scratch_bytes());
    overwritten.push_back(chosen.kernel->overwritten_input());
  }
  TINYPROF_ASSIGN_OR_RETURN(plan_,
                            PlanMemory(*graph_, scratch_bytes, options.layouts, overwritten));
  TINYPROF_RETURN_IF_ERROR(
      CheckLimit(weight_bytes_, packed_bytes_, plan_.arena_bytes, options.memory_limit_bytes));
  TINYPROF_ASSIGN_OR_RETURN(arena_, Buffer::Create(plan_.arena_bytes));
  return {};
}

int64_t Session::packed_bytes(size_t node) const { return PackedBytesOf(*kernels_[node].kernel); }

Status Session::PackWeights() {
  packed_.resize(kernels_.size());
  for (size_t n = 0; n < kernels_.size(); ++n) {
    if (packed_bytes(n) == 0) continue;
    TINYPROF_ASSIGN_OR_RETURN(packed_[n], Buffer::Create(packed_bytes(n)));
    TINYPROF_RETURN_IF_ERROR(PackInto(
        *kernels_[n].kernel, {packed_[n].data(), static_cast<size_t>(packed_[n].byte_size())}));
  }
  return {};
}

Status Session::MakeDeclarations() {
  if (!WorkIsDeclared()) return {};
  for (const Node& node : graph_->nodes) {
    TINYPROF_ASSIGN_OR_RETURN(const Cost cost, CostOf(SignatureOf(*graph_, node, true)));
    declared_flops_.push_back(cost.flop_count());
  }
  return {};
}

void Session::DeclareNode(size_t node) const noexcept {
  const int64_t flops = declared_flops_[node];
#pragma omp parallel num_threads(options_.threads)
  {
    const int64_t team = omp_get_num_threads();
    const int64_t rank = omp_get_thread_num();
    DeclareFlops(flops / team + (rank < flops % team ? 1 : 0));
  }
}

std::byte* Session::DataOf(ValueId id) {
  const auto index = static_cast<size_t>(id);
  if (graph_->value(id).kind == Value::Kind::kInitializer) return weights_[index].data();
  TINYPROF_CHECK(plan_.values[index].offset >= 0);
  return arena_.data() + plan_.values[index].offset;
}

void Session::Bind() {
  bindings_.resize(graph_->nodes.size());
  for (size_t n = 0; n < bindings_.size(); ++n) {
    const Node& node = graph_->nodes[n];
    NodeBinding& binding = bindings_[n];
    for (const ValueId id : node.inputs) {
      binding.inputs.push_back(
          id == kNoValue ? ConstTensorView{}
                         : ConstTensorView{.type = graph_->value(id).type, .data = DataOf(id)});
    }
    for (const ValueId id : node.outputs) {
      binding.outputs.push_back(
          id == kNoValue ? TensorView{}
                         : TensorView{.type = graph_->value(id).type, .data = DataOf(id)});
    }
    binding.scratch = {arena_.data() + plan_.scratch_offset[n],
                       static_cast<size_t>(kernels_[n].kernel->scratch_bytes())};
  }
}

void Session::RunNode(size_t node) noexcept {
  const NodeBinding& binding = bindings_[node];
  kernels_[node].kernel->Run(
      {.inputs = binding.inputs, .outputs = binding.outputs, .scratch = binding.scratch});
  if (!declared_flops_.empty()) DeclareNode(node);
}

void Session::RunAll() noexcept {
  for (size_t node = 0; node < node_count(); ++node) RunNode(node);
}

void Session::FillInputs() noexcept {
  for (const ValueId id : graph_->inputs)
    FillInParallel(graph_->value(id), DataOf(id), options_.threads);
}

TensorView Session::input(size_t index) {
  const ValueId id = graph_->inputs[index];
  return {.type = graph_->value(id).type, .data = DataOf(id)};
}

ConstTensorView Session::output(size_t index) const {
  const ValueId id = graph_->outputs[index];
  // DataOf only computes an address; it is not const because inputs are written through it.
  return {.type = graph_->value(id).type, .data = const_cast<Session*>(this)->DataOf(id)};
}

ConstTensorView Session::node_output(size_t node, size_t index) const {
  const TensorView& view = bindings_[node].outputs[index];
  return {.type = view.type, .data = view.data};
}

std::vector<std::span<const std::byte>> Session::memory_blocks() const {
  std::vector<std::span<const std::byte>> blocks;
  for (const std::vector<Buffer>* buffers : {&weights_, &packed_}) {
    for (const Buffer& buffer : *buffers) {
      if (buffer.byte_size() > 0) blocks.push_back(BytesOf(buffer));
    }
  }
  blocks.push_back(BytesOf(arena_));
  return blocks;
}

}  // namespace tinyprof
