// Layers without work, that run as those of a session do: what they take is what starting takes.
#pragma once

#include <cstddef>
#include <memory>

#include "daemon/measure/workload.h"
#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

class EmptyLayers final : public Workload {
 public:
  // Of a session with the same backend, instruction set and threads. Fails as Session::Create does.
  static Result<std::unique_ptr<EmptyLayers>> Create(const SessionOptions& options);

  // Layer 0 is a Relu over one element. Layer 1, which one thread does not have, is that with a
  // parallel region of the whole team around nothing, as kernels open one when there is enough work
  // to share.
  size_t node_count() const override { return threads_ > 1 ? 2 : 1; }
  void RunNode(size_t node) noexcept override;
  void RunAll() noexcept override;
  // They come after the flushed layers of a workload, and have nothing of their own to wait for.
  void FlushCaches() noexcept override {}

 private:
  EmptyLayers() = default;

  int threads_ = 1;
  Graph graph_;
  std::unique_ptr<Session> session_;  // of graph_
};

}  // namespace tinyprof
