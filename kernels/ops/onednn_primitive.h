// What all kernels of oneDNN share: the Kernel that runs a primitive, and how one is made.
#pragma once

#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ops/onednn_layouts.h"
#include "kernels/ops/packing_kernel.h"

namespace tinyprof::onednn {

// What PrepareOnednn() was called for, which it must have been.
Isa PreparedIsa();

// Attributes with the scratch taken from us; all primitives are made with them.
dnnl::primitive_attr Attributes();

// One argument of a primitive.
struct Operand {
  int argument = 0;  // DNNL_ARG_SRC, ...
  bool is_output = false;
  size_t index = 0;  // among the node's inputs or outputs
  Desc given;        // as the node has it
  Desc wanted;  // as the primitive takes it; other than `given` only for weights, which are packed
  // Writes the elements in the order of `given`, in place of those of an input; null: they are
  // those of the input.
  std::function<void(float*)> make = nullptr;
  // An int8 or uint8 that the run knows, which the primitive takes as an int32.
  bool is_zero_point = false;
};

Operand Input(int argument, size_t index, const Desc& desc);
Operand Output(int argument, size_t index, const Desc& desc);
Operand Weight(int argument, size_t index, const Desc& given, const Desc& wanted);
Operand ZeroPoint(int argument, size_t index);
// A weight that is worked out once, when weights are packed.
Operand Made(int argument, const Desc& given, const Desc& wanted, std::function<void(float*)> make);

// What a fused node has beside its operands.
struct Extras {
  // The input of the output's layout that the primitive adds to: the output has to hold it before.
  std::optional<size_t> summed;
  int64_t folded_flop_count = 0;
};

// Runs one primitive. Weights that are worked out, or that it wants arranged otherwise than they
// are given, are written by Pack().
class PrimitiveKernel final : public PackingKernel {
 public:
  // `description` is the primitive's own; `signature` has the weights. Throws dnnl::error.
  PrimitiveKernel(const dnnl::primitive_desc_base& description, const dnnl::primitive& primitive,
                  const std::vector<Operand>& operands, const NodeSignature& signature, int threads,
                  const Extras& extras = {});

  // oneDNN's name of it: "jit:avx512_core", "brg:avx2", ...
  std::string implementation() const override { return implementation_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  int64_t packed_bytes() const override { return packed_bytes_; }
  int64_t folded_flop_count() const override { return extras_.folded_flop_count; }
  std::optional<size_t> overwritten_input() const override { return extras_.summed; }
  Status Pack(std::span<std::byte> packed) override;
  void Run(const KernelArgs& args) const noexcept override;

 private:
  enum class Source { kInput, kOutput, kPacked, kScratch, kZeroPoint };
  struct Argument {
    Source source;
    size_t index;           // kInput, kOutput, kZeroPoint
    int64_t packed_offset;  // kPacked
    dnnl::memory memory;    // its address is set when it is another one
    // kZeroPoint: what the run has; one thread runs a kernel at a time.
    mutable std::unique_ptr<int32_t> zero_point = nullptr;
  };
  struct Packing {
    const void* data;  // null: `make` writes them
    Desc given;
    Desc wanted;
    int64_t offset;
    std::function<void(float*)> make;
  };

  void* AddressOf(const Argument& argument, const KernelArgs& args) const;
  void CopySummed(const KernelArgs& args) const;

  std::string implementation_;
  int threads_;
  int64_t scratch_bytes_ = 0;
  int64_t packed_bytes_ = 0;
  std::byte* packed_ = nullptr;
  Extras extras_;
  int64_t output_bytes_ = 0;
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<Argument> arguments_;
  std::vector<dnnl_exec_arg_t> exec_args_;
  std::vector<Packing> packings_;
};

// The size of the team as oneDNN sees it, while this lives: the library has no argument for it.
class TeamSize {
 public:
  explicit TeamSize(int threads);
  ~TeamSize();
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  int before_;
};

// "NO_KERNEL" unless all operands are float32 and have elements.
Status CheckOperands(const NodeSignature& signature);
// The same for operands of any type that the library has.
Status CheckAnyOperands(const NodeSignature& signature);
// "NO_KERNEL" for what oneDNN does not do.
tl::unexpected<Error> NoKernel(const NodeSignature& signature, std::string_view why);
// The same from the library's own refusal; "OUT_OF_MEMORY" where it was that.
tl::unexpected<Error> Refused(const NodeSignature& signature, const dnnl::error& error);

using KernelResult = Result<std::unique_ptr<Kernel>>;

// The factory of `build`, which may throw dnnl::error and sees only operands that `check` lets
// through. What the library has only naive loops for is left to other
// backends.
template <KernelResult (*build)(const NodeSignature& signature, const OnednnOptions& options),
          Status (*check)(const NodeSignature& signature) = CheckOperands>
KernelResult Make(const NodeSignature& signature, const OnednnOptions& options) {
  TINYPROF_RETURN_IF_ERROR(check(signature));
  const TeamSize team(options.threads);
  try {
    KernelResult kernel = build(signature, options);
    if (!kernel || !(*kernel)->implementation().starts_with("ref")) return kernel;
    return NoKernel(signature, "it has naive loops only");
  } catch (const dnnl::error& error) {
    return Refused(signature, error);
  }
}

}  // namespace tinyprof::onednn
