// A session as a workload.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "daemon/measure/workload.h"
#include "kernels/base/error.h"
#include "kernels/ops/cost.h"
#include "kernels/runtime/session.h"
#include "kernels/tensor/buffer.h"
#include "kernels/tensor/dtype.h"

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
  LayerWork work(size_t node) const override { return work_[node]; }

 private:
  explicit SessionWorkload(Session& session);

  Session* session_;
  std::vector<std::span<const std::byte>> blocks_;
  Buffer sweep_;
  std::vector<LayerWork> work_;  // by node
};

// Of a layer with this cost whose output has this type. Left out is what a kernel can do without
// (taps on padding or a mask, a bias that an accumulator begins with) or by other means (maxima,
// which AMD's event leaves out; functions such as exp), and all of types narrower than 32 bits.
// `fast_convolution`: it may be Winograd's, whose largest tiles save products by a factor of 5.06.
LayerWork WorkOf(const Cost& cost, DType output, bool fast_convolution);

}  // namespace tinyprof
