// Names of loops, and the choice of those that the CPU at hand can run.
#include <algorithm>
#include <vector>

#include "kernels/probes/known_loops.h"
#include "kernels/probes/loop_tables.h"
#include "kernels/probes/memory_loops.h"
#include "kernels/runtime/isa.h"

namespace tinyprof {
namespace {

bool HostHas(Isa isa) {
  const std::vector<Isa>& host = HostIsas();
  return std::find(host.begin(), host.end(), isa) != host.end();
}

bool HostRuns(VectorIsa isa) {
  switch (isa) {
    case VectorIsa::kScalar:
    case VectorIsa::kSse:
    case VectorIsa::kNeon:
      return true;
    case VectorIsa::kAvx2:
      return HostHas(Isa::kAvx2);
    case VectorIsa::kAvx512:
      return HostHas(Isa::kAvx512);
  }
  return false;
}

// On x86-64 an FMA needs what AVX2 machines have, whatever the width of its operands.
bool HostRuns(const FlopLoop& loop) {
#if defined(__x86_64__)
  if (loop.per_iteration.fma > 0 && !HostHas(Isa::kAvx2)) return false;
#endif
  return HostRuns(loop.isa);
}

}  // namespace

std::string_view Name(VectorIsa isa) {
  switch (isa) {
    case VectorIsa::kScalar:
      return "scalar";
    case VectorIsa::kSse:
      return "sse";
    case VectorIsa::kAvx2:
      return "avx2";
    case VectorIsa::kAvx512:
      return "avx512";
    case VectorIsa::kNeon:
      return "neon";
  }
  return "unknown";
}

std::string_view Name(MemoryOp op) {
  switch (op) {
    case MemoryOp::kLoad:
      return "load";
    case MemoryOp::kCopy:
      return "copy";
    case MemoryOp::kTriad:
      return "triad";
    case MemoryOp::kCopyNonTemporal:
      return "copy_nt";
    case MemoryOp::kTriadNonTemporal:
      return "triad_nt";
  }
  return "unknown";
}

int ArrayCount(MemoryOp op) {
  if (op == MemoryOp::kLoad) return 1;
  return op == MemoryOp::kCopy || op == MemoryOp::kCopyNonTemporal ? 2 : 3;
}

bool IsNonTemporal(MemoryOp op) {
  return op == MemoryOp::kCopyNonTemporal || op == MemoryOp::kTriadNonTemporal;
}

std::span<const FlopLoop> HostFlopLoops() {
  static const std::vector<FlopLoop> loops = [] {
    std::vector<FlopLoop> usable;
    for (const FlopLoop& loop : AllFlopLoops()) {
      if (HostRuns(loop)) usable.push_back(loop);
    }
    return usable;
  }();
  return loops;
}

const FlopLoop* FindFlopLoop(std::string_view name) {
  for (const FlopLoop& loop : HostFlopLoops()) {
    if (loop.name == name) return &loop;
  }
  return nullptr;
}

std::span<const MemoryLoop> HostMemoryLoops() {
  static const std::vector<MemoryLoop> loops = [] {
    std::vector<MemoryLoop> usable;
    for (const MemoryLoop& loop : AllMemoryLoops()) {
      if (HostRuns(loop.isa)) usable.push_back(loop);
    }
    return usable;
  }();
  return loops;
}

const MemoryLoop* FindMemoryLoop(VectorIsa isa, MemoryOp op) {
  for (const MemoryLoop& loop : HostMemoryLoops()) {
    if (loop.isa == isa && loop.op == op) return &loop;
  }
  return nullptr;
}

}  // namespace tinyprof
