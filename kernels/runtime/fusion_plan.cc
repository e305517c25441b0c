#include "kernels/runtime/fusion_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/graph/fusion.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/ops/op.h"
#include "kernels/runtime/fusion_match.h"

namespace tinyprof {
namespace {

// Networks have three or four; more are left to the next nodes, so that a file of one long chain
// costs no more than its length.
constexpr size_t kMaxSteps = 8;

// A fused node as it grows.
class FusedNode {
 public:
  FusedNode(const Graph& graph, size_t head) : graph_(graph), node_(graph.nodes[head]) {
    // Places of optional inputs that are left out stay empty.
    node_.inputs.resize(FindOperator(node_.op_type)->max_inputs, kNoValue);
    AddPart(head);
    result_ = node_.outputs[0];
  }

  void Add(const Follower& follower) {
    for (const size_t index : follower.nodes) AddPart(index);
    FusedStep step = follower.step;
    for (const ValueId id : follower.operands) step.inputs.push_back(InputOf(id));
    fusion_.steps.push_back(std::move(step));
    result_ = follower.result;
  }

  ValueId result() const { return result_; }
  bool adds_tensor() const { return Has(FusedStep::Kind::kAdd); }
  const std::vector<size_t>& nodes() const { return nodes_; }
  Node Finish() const {
    Node node = node_;
    node.outputs = {result_};
    node.fusion = std::make_shared<const Fusion>(fusion_);
    return node;
  }

 private:
  bool Has(FusedStep::Kind kind) const {
    return std::any_of(fusion_.steps.begin(), fusion_.steps.end(),
                       [&](const FusedStep& step) { return step.kind == kind; });
  }

  // The place of the value among the inputs of the node; it becomes one where it is none yet.
  size_t InputOf(ValueId id) {
    const auto found = std::find(node_.inputs.begin(), node_.inputs.end(), id);
    if (found == node_.inputs.end()) {
      node_.inputs.push_back(id);
      return node_.inputs.size() - 1;
    }
    return static_cast<size_t>(found - node_.inputs.begin());
  }

  void AddPart(size_t index) {
    const Node& node = graph_.nodes[index];
    FusedPart part{.node = node, .sources = {}, .output = graph_.value(node.outputs[0]).type};
    for (const ValueId id : node.inputs) {
      using Kind = FusedPart::Source::Kind;
      const auto made = made_by_.find(id);
      if (id == kNoValue) {
        part.sources.push_back({Kind::kNothing, 0});
      } else if (made != made_by_.end()) {
        part.sources.push_back({Kind::kPart, made->second});
      } else {
        part.sources.push_back({Kind::kInput, InputOf(id)});
      }
    }
    made_by_.emplace(node.outputs[0], fusion_.parts.size());
    fusion_.parts.push_back(std::move(part));
    nodes_.push_back(index);
  }

  const Graph& graph_;
  Node node_;
  Fusion fusion_;
  ValueId result_ = kNoValue;
  std::map<ValueId, size_t> made_by_;
  std::vector<size_t> nodes_;
};

// The longest fused node from `head` that may be, or nothing. Takes no node that is taken already:
// both operands of an Add may come from a convolution.
std::optional<FusedNode> LongestFrom(const Readers& readers, size_t head,
                                     const std::vector<bool>& is_taken,
                                     const FusionFilter& may_be) {
  const Graph& graph = readers.graph();
  std::vector<FusedNode> grown = {FusedNode(graph, head)};
  while (grown.size() <= kMaxSteps) {
    const FusedNode& last = grown.back();
    const auto follower = FollowerOf(readers, graph.nodes[head], last.result());
    if (!follower) break;
    if (std::any_of(follower->nodes.begin(), follower->nodes.end(),
                    [&](size_t index) { return is_taken[index]; })) {
      break;
    }
    if (follower->step.kind == FusedStep::Kind::kAdd && last.adds_tensor()) break;
    FusedNode next = last;
    next.Add(*follower);
    grown.push_back(std::move(next));
  }
  for (; grown.size() > 1; grown.pop_back()) {
    const Node node = grown.back().Finish();
    if (may_be(SignatureOf(graph, node, true))) return std::move(grown.back());
  }
  return std::nullopt;
}

}  // namespace

Graph FuseNodes(const Graph& graph, const FusionFilter& may_be) {
  const Readers readers(graph);
  std::vector<bool> is_taken(graph.nodes.size());
  std::map<size_t, Node> fused_at;  // by the last node it stands for
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!IsHead(graph, graph.nodes[n])) continue;
    const std::optional<FusedNode> fused = LongestFrom(readers, n, is_taken, may_be);
    if (!fused) continue;
    for (const size_t index : fused->nodes()) is_taken[index] = true;
    fused_at.emplace(*std::max_element(fused->nodes().begin(), fused->nodes().end()),
                     fused->Finish());
  }
  Graph result = graph;
  result.nodes.clear();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto fused = fused_at.find(n);
    if (fused != fused_at.end()) {
      result.nodes.push_back(std::move(fused->second));
    } else if (!is_taken[n]) {
      result.nodes.push_back(graph.nodes[n]);
    }
  }
  return result;
}

Result<Graph> PlanFusion(const Graph& graph, const SessionOptions& options) {
  if (options.backend != Backend::kOnednn) {
    return FuseNodes(graph, [](const NodeSignature&) { return true; });
  }
  TINYPROF_RETURN_IF_ERROR(PrepareOnednn(options.isa));
  const OnednnOptions kernel_options{
      .threads = options.threads, .conv_algorithm = options.conv_algorithm, .layouts = {}};
  return FuseNodes(
      graph, [&](const NodeSignature& fused) { return OnednnTakesFused(fused, kernel_options); });
}

}  // namespace tinyprof
