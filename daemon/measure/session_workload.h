// A session as a workload.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "daemon/measure/workload.h"
#include "kernels/base/error.h"
#include "kernels/runtime/session.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {

class SessionWorkload final : public Workload {
 public:
  // `session` must outlive the workload. `will_flush`: FlushCaches is going to be called.
  // RESOURCE_EXHAUSTED when there is no memory for the sweep.
  static Result<SessionWorkload> Create(Session& session, bool will_flush);

  size_t node_count() const override { return session_->node_count(); }
  void RunNode(size_t node) noexcept override { session_->RunNode(node); }
  void RunAll() noexcept override { session_->RunAll(); }
  // Flushes weights, activations and scratch line by line from every level, then sweeps memory of
  // its own larger than the private caches, which evicts from them what kernels keep to themselves.
  void FlushCaches() noexcept override;

 private:
  explicit SessionWorkload(Session& session) : session_(&session) {}

  Session* session_;
  std::vector<std::span<const std::byte>> blocks_;
  Buffer sweep_;
};

}  // namespace tinyprof
