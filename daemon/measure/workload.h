// What is measured: a list of layers that can be run in order, any number of times.
#pragma once

#include <cstddef>

namespace tinyprof {

class Workload {
 public:
  virtual ~Workload() = default;
  virtual size_t node_count() const = 0;
  virtual void RunNode(size_t node) noexcept = 0;
  virtual void RunAll() noexcept = 0;
  // Takes what the layers read and write out of the caches.
  virtual void FlushCaches() noexcept = 0;
};

}  // namespace tinyprof
