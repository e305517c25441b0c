// Where every activation of a graph lives: one arena, offsets fixed before the run, memory of dead
// values used again. The peak is known before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/ops/layout.h"

namespace tinyprof {

struct MemoryPlan {
  struct Slot {
    int64_t offset = -1;  // in the arena; -1: the value does not live there (initializers, unused)
    int64_t byte_size = 0;
    int32_t first_node = 0;  // the node that writes it; graph inputs: 0
    int32_t last_node = 0;   // the last node that reads it; graph outputs: the last node
    // The value whose memory it takes over from the node before, or kNoValue: then that value's
    // last_node is the one before this value's first_node.
    ValueId takes_over = kNoValue;
  };
  std::vector<Slot> values;             // by ValueId
  std::vector<int64_t> scratch_offset;  // by node; scratch lives in the same arena
  std::vector<int64_t> live_bytes;      // by node: activations and scratch alive while it runs
  int64_t arena_bytes = 0;              // the arena's size: at least max(live_bytes)
  int64_t peak_activation_bytes = 0;    // max over nodes of live activations, without scratch
};

// Greedy by size (largest first, lowest offset that is free for its whole life), which is within a
// few percent of optimal for networks (Pisarchyk and Lee, "Efficient Memory Management for Deep
// Neural Net Inference", 2020). `scratch_bytes` is by node. OUT_OF_RANGE when a sum passes 2^63.
// `layouts` is by ValueId, or empty when all are row-major. `overwritten` is by node, or empty: the
// input whose memory the node's first output is to take over, as it does where nobody needs that
// input later and both have the same size.
Result<MemoryPlan> PlanMemory(const Graph& graph, std::span<const int64_t> scratch_bytes,
                              std::span<const LayoutPtr> layouts = {},
                              std::span<const std::optional<size_t>> overwritten = {});

}  // namespace tinyprof
