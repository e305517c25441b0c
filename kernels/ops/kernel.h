// A kernel: one node made ready to run, with one implementation, for one instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {

struct KernelArgs {
  std::span<const ConstTensorView> inputs;  // data is null for an omitted optional input
  std::span<const TensorView> outputs;
  std::span<std::byte> scratch;  // scratch_bytes() long, 64-byte aligned, contents undefined

  template <class T>
  const T* In(size_t index) const {
    return inputs[index].As<T>();
  }
  template <class T>
  T* Out(size_t index = 0) const {
    return outputs[index].As<T>();
  }
  bool has_input(size_t index) const { return index < inputs.size() && inputs[index].data; }
};

struct KernelOptions {
  int threads = 1;  // size of the OpenMP team: kernels use num_threads(threads), never more
};

// Immutable after creation. Run may be called any number of times, by one thread at a time.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // What ran, for people: "naive", "im2col+gemm", ...
  virtual std::string implementation() const = 0;
  // Memory that Run needs beside its operands.
  virtual int64_t scratch_bytes() const { return 0; }
  // FLOPs by the formulas that Run does not execute, because they went into the weights before it.
  virtual int64_t folded_flop_count() const { return 0; }
  // The input whose memory the first output would best have: Run then need not copy it. It must be
  // ready for an output elsewhere.
  virtual std::optional<size_t> overwritten_input() const { return std::nullopt; }
  // The signature was checked when the graph was built: Run cannot fail.
  virtual void Run(const KernelArgs& args) const noexcept = 0;
};

// Makes the kernel of a node. `signature` has outputs and the data of all initializers; a kernel
// may keep a copy of it, since the graph and the weights outlive the kernel. UNIMPLEMENTED /
// "NO_KERNEL" when this implementation does not do this case (dtype...).
using KernelFactory = Result<std::unique_ptr<Kernel>> (*)(const NodeSignature& signature,
                                                          const KernelOptions& options);

}  // namespace tinyprof
