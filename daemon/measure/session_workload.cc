#include "daemon/measure/session_workload.h"

#include "kernels/ops/op.h"

namespace tinyprof {
namespace {

// 6 x 6 outputs of a 3 x 3 kernel take 8 x 8 products instead of 36 x 9.
constexpr double kMostSavedByWinograd = 324.0 / 64;

std::vector<LayerWork> WorkOf(const Session& session) {
  const bool fast_convolution = session.options().conv_algorithm != ConvAlgorithm::kDirect;
  std::vector<LayerWork> work;
  for (const Node& node : session.graph().nodes) {
    const NodeSignature signature = SignatureOf(session.graph(), node, true);
    const Result<Cost> cost = CostOf(signature);
    work.push_back(cost.has_value()
                       ? WorkOf(*cost, signature.outputs.front().dtype, fast_convolution)
                       : LayerWork{});
  }
  return work;
}

constexpr size_t kLineBytes = 64;
// Second-level caches have up to 4 MiB on the CPUs we know; four times that also defeats
// replacement policies that keep old lines for a while.
constexpr int64_t kSweepBytes = int64_t{16} << 20;

void FlushBlock(std::span<const std::byte> block) {
  for (size_t offset = 0; offset < block.size(); offset += kLineBytes) {
#if defined(__x86_64__)
    asm volatile("clflush (%0)" : : "r"(block.data() + offset) : "memory");
#elif defined(__aarch64__)
    asm volatile("dc civac, %0" : : "r"(block.data() + offset) : "memory");
#endif
  }
#if defined(__x86_64__)
  asm volatile("mfence" : : : "memory");
#elif defined(__aarch64__)
  asm volatile("dsb ish" : : : "memory");
#endif
}

}  // namespace

LayerWork WorkOf(const Cost& cost, DType output, bool fast_convolution) {
  const double products = 2.0 * static_cast<double>(cost.valid_tap_mac_count) /
                          (fast_convolution ? kMostSavedByWinograd : 1);
  const double flops =
      products + static_cast<double>(cost.flops.add_mul_div + cost.flops.reduction);
  return {.least_flops_single = output == DType::kFloat32 ? flops : 0,
          .least_flops_double = output == DType::kFloat64 ? flops : 0,
          .weight_bytes = static_cast<double>(cost.weight_bytes)};
}

SessionWorkload::SessionWorkload(Session& session) : session_(&session), work_(WorkOf(session)) {}

Result<SessionWorkload> SessionWorkload::Create(Session& session, bool will_flush) {
  SessionWorkload workload(session);
  if (will_flush) {
    workload.blocks_ = session.memory_blocks();
    TINYPROF_ASSIGN_OR_RETURN(workload.sweep_, Buffer::Create(kSweepBytes));
  }
  return workload;
}

void SessionWorkload::FlushCaches() noexcept {
  for (const std::span<const std::byte> block : blocks_) {
    FlushBlock(block);
  }
  volatile std::byte* const sweep = sweep_.data();
  for (int64_t offset = 0; offset < sweep_.byte_size(); offset += kLineBytes) {
    sweep[offset] = std::byte{1};
  }
}

}  // namespace tinyprof
