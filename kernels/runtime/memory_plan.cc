#include "kernels/runtime/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "kernels/base/checked_math.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {
namespace {

// A piece of memory that is wanted from one node to another.
struct Request {
  int64_t byte_size = 0;  // rounded up to the alignment
  int32_t first_node = 0;
  int32_t last_node = 0;
  int64_t* offset = nullptr;  // where the answer goes
};

Result<int64_t> Aligned(int64_t byte_size) {
  constexpr auto kAlignment = static_cast<int64_t>(Buffer::kAlignment);
  TINYPROF_ASSIGN_OR_RETURN(const int64_t padded, CheckedAdd(byte_size, kAlignment - 1));
  return padded / kAlignment * kAlignment;
}

// Sets the life of every value that needs memory and marks it with offset 0; the rest stays at -1.
void FindLives(const Graph& graph, std::span<const LayoutPtr> layouts, MemoryPlan& plan) {
  const auto last = static_cast<int32_t>(std::max<size_t>(graph.nodes.size(), 1) - 1);
  plan.values.resize(graph.values.size());
  const auto slot = [&](ValueId id) -> MemoryPlan::Slot& {
    return plan.values[static_cast<size_t>(id)];
  };
  const auto begin = [&](ValueId id, int32_t first, int32_t end) {
    const auto index = static_cast<size_t>(id);
    const bool is_arranged = index < layouts.size() && layouts[index] != nullptr;
    slot(id) = {
        .offset = 0,
        .byte_size = is_arranged ? layouts[index]->byte_size() : graph.value(id).type.byte_size(),
        .first_node = first,
        .last_node = end};
  };
  for (const ValueId id : graph.inputs) begin(id, 0, last);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto node = static_cast<int32_t>(n);
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue && slot(id).offset == 0) {
        slot(id).last_node = std::max(slot(id).last_node, node);
      }
    }
    for (const ValueId id : graph.nodes[n].outputs) {
      if (id != kNoValue) begin(id, node, node);
    }
  }
  for (const ValueId id : graph.outputs) {
    if (id != kNoValue && slot(id).offset == 0) slot(id).last_node = last;
  }
}

// Lets outputs take over the memory of inputs that die with the node that reads them.
void TakeOver(const Graph& graph, std::span<const std::optional<size_t>> overwritten,
              MemoryPlan& plan) {
  for (size_t n = 0; n < overwritten.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!overwritten[n]) continue;
    const ValueId from = node.inputs[*overwritten[n]];
    MemoryPlan::Slot& old = plan.values[static_cast<size_t>(from)];
    MemoryPlan::Slot& taken = plan.values[static_cast<size_t>(node.outputs[0])];
    const auto last = static_cast<int32_t>(n);
    const bool is_free =
        graph.value(from).kind == Value::Kind::kActivation && old.offset == 0 &&
        old.last_node == last && old.first_node < last &&
        std::find(graph.outputs.begin(), graph.outputs.end(), from) == graph.outputs.end() &&
        std::count(node.inputs.begin(), node.inputs.end(), from) == 1;
    if (!is_free || old.byte_size != taken.byte_size) continue;
    taken.takes_over = from;
    old.last_node = last - 1;
  }
}

Result<std::vector<Request>> CollectRequests(MemoryPlan& plan,
                                             std::span<const int64_t> scratch_bytes) {
  // A value that takes over another one's memory only lengthens the life of the first of its chain.
  const auto owner = [&](ValueId id) {
    for (;;) {
      const ValueId before = plan.values[static_cast<size_t>(id)].takes_over;
      if (before == kNoValue) return static_cast<size_t>(id);
      id = before;
    }
  };
  std::vector<int32_t> last_nodes(plan.values.size());
  for (size_t id = 0; id < plan.values.size(); ++id) {
    int32_t& last = last_nodes[owner(static_cast<ValueId>(id))];
    last = std::max(last, plan.values[id].last_node);
  }
  std::vector<Request> requests;
  for (size_t id = 0; id < plan.values.size(); ++id) {
    MemoryPlan::Slot& slot = plan.values[id];
    if (slot.offset < 0 || slot.takes_over != kNoValue) continue;
    TINYPROF_ASSIGN_OR_RETURN(const int64_t size, Aligned(slot.byte_size));
    requests.push_back({size, slot.first_node, last_nodes[id], &slot.offset});
  }
  plan.scratch_offset.assign(scratch_bytes.size(), 0);
  for (size_t n = 0; n < scratch_bytes.size(); ++n) {
    if (scratch_bytes[n] == 0) continue;
    TINYPROF_ASSIGN_OR_RETURN(const int64_t size, Aligned(scratch_bytes[n]));
    const auto node = static_cast<int32_t>(n);
    requests.push_back({size, node, node, &plan.scratch_offset[n]});
  }
  return requests;
}

// Places the requests one by one and returns the end of the highest.
Result<int64_t> Place(std::vector<Request> requests) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& a, const Request& b) { return a.byte_size > b.byte_size; });
  std::vector<const Request*> placed;  // by rising offset
  int64_t arena_bytes = 0;
  for (const Request& request : requests) {
    int64_t offset = 0;
    for (const Request* other : placed) {
      const bool alive_together =
          other->first_node <= request.last_node && request.first_node <= other->last_node;
      if (!alive_together) continue;
      if (*other->offset - offset >= request.byte_size) break;
      offset = std::max(offset, *other->offset + other->byte_size);
    }
    *request.offset = offset;
    TINYPROF_ASSIGN_OR_RETURN(const int64_t end, CheckedAdd(offset, request.byte_size));
    arena_bytes = std::max(arena_bytes, end);
    placed.insert(std::upper_bound(
                      placed.begin(), placed.end(), &request,
                      [](const Request* a, const Request* b) { return *a->offset < *b->offset; }),
                  &request);
  }
  return arena_bytes;
}

// Live bytes of a node are the running sum of what is born at or before it and not yet dead.
Status SumLiveBytes(std::span<const int64_t> scratch_bytes, MemoryPlan& plan) {
  std::vector<int64_t> born_minus_dead(scratch_bytes.size() + 1);
  for (const MemoryPlan::Slot& slot : plan.values) {
    if (slot.offset < 0 || scratch_bytes.empty()) continue;
    int64_t& born = born_minus_dead[static_cast<size_t>(slot.first_node)];
    TINYPROF_ASSIGN_OR_RETURN(born, CheckedAdd(born, slot.byte_size));
    int64_t& dead = born_minus_dead[static_cast<size_t>(slot.last_node) + 1];
    TINYPROF_ASSIGN_OR_RETURN(dead, CheckedAdd(dead, -slot.byte_size));
  }
  int64_t activations = 0;
  for (size_t n = 0; n < scratch_bytes.size(); ++n) {
    TINYPROF_ASSIGN_OR_RETURN(activations, CheckedAdd(activations, born_minus_dead[n]));
    plan.peak_activation_bytes = std::max(plan.peak_activation_bytes, activations);
    TINYPROF_ASSIGN_OR_RETURN(const int64_t live, CheckedAdd(activations, scratch_bytes[n]));
    plan.live_bytes.push_back(live);
  }
  return {};
}

}  // namespace

Result<MemoryPlan> PlanMemory(const Graph& graph, std::span<const int64_t> scratch_bytes,
                              std::span<const LayoutPtr> layouts,
                              std::span<const std::optional<size_t>> overwritten) {
  MemoryPlan plan;
  FindLives(graph, layouts, plan);
  TakeOver(graph, overwritten, plan);
  TINYPROF_ASSIGN_OR_RETURN(std::vector<Request> requests, CollectRequests(plan, scratch_bytes));
  TINYPROF_RETURN_IF_ERROR(SumLiveBytes(scratch_bytes, plan));
  TINYPROF_ASSIGN_OR_RETURN(plan.arena_bytes, Place(std::move(requests)));
  for (const Node& node : graph.nodes) {
    if (node.outputs.empty() || node.outputs[0] == kNoValue) continue;
    MemoryPlan::Slot& slot = plan.values[static_cast<size_t>(node.outputs[0])];
    if (slot.takes_over == kNoValue) continue;
    slot.offset = plan.values[static_cast<size_t>(slot.takes_over)].offset;
  }
  return plan;
}

}  // namespace tinyprof
