// What is measured: a list of layers that can be run in order, any number of times.
#pragma once

#include <cstddef>

namespace tinyprof {

// What a layer must do whatever kernel runs it, by formula; 0: nothing is known to be needed.
struct LayerWork {
  // FLOPs that every kernel executes and every CPU counts, by the precision they are done in.
  double least_flops_single = 0;
  double least_flops_double = 0;
  double weight_bytes = 0;  // each read once a pass

  double least_flops() const { return least_flops_single + least_flops_double; }
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual size_t node_count() const = 0;
  virtual void RunNode(size_t node) noexcept = 0;
  virtual void RunAll() noexcept = 0;
  // Takes what the layers read and write out of the caches.
  virtual void FlushCaches() noexcept = 0;
  virtual LayerWork work(size_t /*node*/) const { return {}; }
};

}  // namespace tinyprof
