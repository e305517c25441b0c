#include "kernels/runtime/layout_plan.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "kernels/ops/onednn_kernels.h"

namespace tinyprof {
namespace {

class Planner {
 public:
  Planner(Graph graph, const SessionOptions& options)
      : options_(options), nodes_(std::move(graph.nodes)) {
    graph.nodes.clear();
    plan_.graph = std::move(graph);
    plan_.layouts.resize(plan_.graph.values.size());
    copies_.resize(plan_.graph.values.size());
    for (const Node& node : nodes_) names_.insert(node.name);
  }

  LayoutPlan Run() && {
    for (size_t n = 0; n < nodes_.size(); ++n) Add(std::move(nodes_[n]), ChoiceOf(options_, n));
    for (ValueId& output : plan_.graph.outputs) output = RowMajorOutput(output);
    if (options_.choices.empty()) plan_.choices.clear();
    return std::move(plan_);
  }

 private:
  LayoutPtr& LayoutOf(ValueId id) { return plan_.layouts[static_cast<size_t>(id)]; }

  // Appends the node, and before it what rearranges its inputs.
  void Add(Node node, KernelChoice choice) {
    const NodeSignature signature = SignatureOf(plan_.graph, node, true);
    std::vector<LayoutPtr> given;
    for (const ValueId id : node.inputs) given.push_back(id == kNoValue ? nullptr : LayoutOf(id));
    NodeLayouts wanted;
    if (choice.backend == Backend::kOnednn) {
      wanted = OnednnLayouts(
          signature,
          {.threads = options_.threads, .conv_algorithm = choice.conv_algorithm, .layouts = {}},
          given);
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      node.inputs[i] = Arranged(node.inputs[i], wanted.input(i), node.path);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) LayoutOf(node.outputs[i]) = wanted.output(i);
    }
    Append(std::move(node), choice);
  }

  void Append(Node node, KernelChoice choice) {
    plan_.graph.nodes.push_back(std::move(node));
    plan_.choices.push_back(choice);
  }

  // The value itself or a copy of it in that layout.
  ValueId Arranged(ValueId id, const LayoutPtr& layout, const std::string& path) {
    if (AreSame(LayoutOf(id), layout)) return id;
    for (const ValueId copy : copies_[static_cast<size_t>(id)]) {
      if (AreSame(LayoutOf(copy), layout)) return copy;
    }
    const Value& value = plan_.graph.value(id);
    const std::string name =
        fmt::format("{} ({})", value.name, layout == nullptr ? "row-major" : layout->name());
    return Reorder(id, {.name = name, .type = value.type, .fill = {}}, layout, path);
  }

  ValueId Reorder(ValueId from, Value value, const LayoutPtr& layout, const std::string& path) {
    const auto to = static_cast<ValueId>(plan_.graph.values.size());
    plan_.graph.values.push_back(std::move(value));
    plan_.layouts.push_back(layout);
    copies_.emplace_back();
    copies_[static_cast<size_t>(from)].push_back(to);
    Append({.name = FreeName(path + ".reorder"),
            .path = path,
            .op_type = "Reorder",
            .inputs = {from},
            .outputs = {to},
            .attributes = {}},
           {.backend = Backend::kOnednn});
    return to;
  }

  // Outputs keep their names, by which others know them; the arranged value gets another one.
  ValueId RowMajorOutput(ValueId id) {
    if (id == kNoValue || LayoutOf(id) == nullptr) return id;
    Value& arranged = plan_.graph.values[static_cast<size_t>(id)];
    const std::string name = arranged.name;
    for (const ValueId copy : copies_[static_cast<size_t>(id)]) {
      if (LayoutOf(copy) != nullptr) continue;
      std::swap(plan_.graph.values[static_cast<size_t>(copy)].name, arranged.name);
      return copy;
    }
    arranged.name = fmt::format("{} ({})", name, LayoutOf(id)->name());
    return Reorder(id, {.name = name, .type = arranged.type, .fill = {}}, nullptr, name);
  }

  std::string FreeName(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }

  const SessionOptions& options_;
  std::vector<Node> nodes_;
  LayoutPlan plan_;
  std::vector<std::vector<ValueId>> copies_;  // by ValueId
  std::set<std::string> names_;
};

}  // namespace

Result<LayoutPlan> PlanLayouts(Graph graph, const SessionOptions& options) {
  bool has_onednn = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    has_onednn = has_onednn || ChoiceOf(options, n).backend == Backend::kOnednn;
  }
  if (!has_onednn) return LayoutPlan{std::move(graph), {}, options.choices};
  TINYPROF_RETURN_IF_ERROR(PrepareOnednn(options.isa));
  return Planner(std::move(graph), options).Run();
}

}  // namespace tinyprof
