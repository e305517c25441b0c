#include "kernels/ops/make_kernel.h"

#include <fmt/format.h>

#include <vector>

#include "kernels/ops/convert.h"
#include "kernels/ops/eigen_kernels.h"
#include "kernels/ops/op.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/parts_kernel.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {
namespace {

using KernelResult = Result<std::unique_ptr<Kernel>>;

DType Widened(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return DType::kFloat32;
    case DType::kInt8:
    case DType::kUInt8:
      return DType::kInt32;
    default:
      return dtype;
  }
}

int64_t RoundUp(int64_t bytes) {
  constexpr auto kAlignment = static_cast<int64_t>(Buffer::kAlignment);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// One operand and the conversion that it takes; `convert` is null where it takes none.
struct Operand {
  TensorType wide;
  ConvertFn convert = nullptr;
  int64_t scratch_offset = 0;
  Buffer weight;  // converted already; empty for what is no weight
};

// A node of `Operands` that are converted around the kernel of the widened node.
class ConvertedKernel final : public PackingKernel {
 public:
  // `make` makes the kernel of the widened signature.
  template <class Make>
  static KernelResult Create(const NodeSignature& signature, const KernelOptions& options,
                             const Make& make) {
    std::unique_ptr<ConvertedKernel> kernel(new ConvertedKernel(options.threads));
    NodeSignature wide = signature;
    for (NodeSignature::Input& input : wide.inputs) {
      TINYPROF_RETURN_IF_ERROR(kernel->AddInput(input));
    }
    for (TensorType& output : wide.outputs) kernel->AddOutput(output);
    TINYPROF_ASSIGN_OR_RETURN(kernel->inner_, make(wide));
    return kernel;
  }

  std::string implementation() const override {
    return fmt::format("{}, converted", inner_->implementation());
  }
  int64_t scratch_bytes() const override { return own_scratch_bytes_ + inner_->scratch_bytes(); }
  int64_t packed_bytes() const override { return PackedBytesOf(*inner_); }
  Status Pack(std::span<std::byte> packed) override { return PackInto(*inner_, packed); }

  void Run(const KernelArgs& args) const noexcept override {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      input_views_[i].data = args.inputs[i].data;
      const Operand& operand = inputs_[i];
      if (operand.convert == nullptr || args.inputs[i].data == nullptr) continue;
      if (operand.weight.byte_size() > 0) {
        input_views_[i].data = operand.weight.data();
        continue;
      }
      std::byte* wide = args.scratch.data() + operand.scratch_offset;
      ConvertAll(operand, args.inputs[i].data, wide);
      input_views_[i].data = wide;
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const bool converted = outputs_[i].convert != nullptr && args.outputs[i].data != nullptr;
      output_views_[i].data =
          converted ? args.scratch.data() + outputs_[i].scratch_offset : args.outputs[i].data;
    }
    inner_->Run({.inputs = input_views_,
                 .outputs = output_views_,
                 .scratch = args.scratch.subspan(static_cast<size_t>(own_scratch_bytes_))});
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].convert == nullptr || args.outputs[i].data == nullptr) continue;
      ConvertAll(outputs_[i], output_views_[i].data, args.outputs[i].data);
    }
  }

 private:
  explicit ConvertedKernel(int threads) : threads_(threads) {}

  // Widens `input` and points it at the converted weight.
  Status AddInput(NodeSignature::Input& input) {
    Operand& operand = inputs_.emplace_back();
    const DType narrow = input.type.dtype;
    input.type.dtype = Widened(narrow);
    operand.wide = input.type;
    input_views_.push_back({.type = input.type});
    if (!input.present || narrow == input.type.dtype) return {};
    operand.convert = FindConversion(narrow, input.type.dtype);
    if (input.data != nullptr && input.type.byte_size() > 0) {
      TINYPROF_ASSIGN_OR_RETURN(operand.weight, Buffer::Create(input.type.byte_size()));
      ConvertAll(operand, input.data, operand.weight.data());
      input.data = operand.weight.data();
      return {};
    }
    TakeScratch(operand);
    return {};
  }

  void AddOutput(TensorType& output) {
    Operand& operand = outputs_.emplace_back();
    const DType narrow = output.dtype;
    output.dtype = Widened(narrow);
    operand.wide = output;
    output_views_.push_back({.type = output});
    if (narrow == output.dtype) return;
    operand.convert = FindConversion(output.dtype, narrow);
    TakeScratch(operand);
  }

  void TakeScratch(Operand& operand) {
    operand.scratch_offset = own_scratch_bytes_;
    own_scratch_bytes_ += RoundUp(operand.wide.byte_size());
  }

  void ConvertAll(const Operand& operand, const void* from, void* to) const {
    const int64_t count = operand.wide.shape.element_count();
    const int threads = ThreadsFor(count, threads_);
#pragma omp parallel for num_threads(threads)
    for (int part = 0; part < threads; ++part) {
      const Partition range = PartOf(count, part, threads);
      operand.convert(from, to, range.begin, range.end);
    }
  }

  int threads_;
  std::unique_ptr<Kernel> inner_;
  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
  int64_t own_scratch_bytes_ = 0;
  // Made ahead, since Run must not allocate; one thread runs a kernel at a time.
  mutable std::vector<ConstTensorView> input_views_;
  mutable std::vector<TensorView> output_views_;
};

bool HasNarrowOperand(const NodeSignature& signature) {
  for (const NodeSignature::Input& input : signature.inputs) {
    if (input.present && Widened(input.type.dtype) != input.type.dtype) return true;
  }
  for (const TensorType& output : signature.outputs) {
    if (Widened(output.dtype) != output.dtype) return true;
  }
  return false;
}

bool HasNoKernel(const KernelResult& kernel) {
  return !kernel && kernel.error().reason == "NO_KERNEL";
}

KernelResult MakeNaiveAsIs(const NodeSignature& signature, const KernelOptions& options) {
  const std::string& op_type = signature.node->op_type;
  const Operator* op = FindOperator(op_type);
  if (op == nullptr) {
    return Fail(ErrorCode::kUnimplemented, "UNKNOWN_OPERATOR",
                fmt::format("operator {} is not known", op_type), {{"operator", op_type}});
  }
  KernelResult kernel = op->reference(signature, options);
  if (!HasNoKernel(kernel)) return kernel;
  return op->reference_f64(signature, options);
}

// `make` on the node as it is, or widened where that has no kernel.
template <class Make>
KernelResult MakeAsIsOrConverted(const NodeSignature& signature, const KernelOptions& options,
                                 const Make& make) {
  KernelResult kernel = make(signature);
  if (!HasNoKernel(kernel) || !HasNarrowOperand(signature)) return kernel;
  return ConvertedKernel::Create(signature, options, make);
}

// By the kernel of its first part where that knows fused nodes, else part by part, where one may be
// left to its naive kernel.
KernelResult MakeEigenFused(const NodeSignature& signature, const KernelOptions& options, Isa isa) {
  const EigenKernel* kernel = FindEigenKernel(isa, signature.node->op_type);
  if (kernel != nullptr && kernel->takes_fused) return kernel->factory(signature, options);
  return MakePartsKernel(signature, [&](const NodeSignature& part) {
    KernelResult made = MakeEigenKernel(part, options, isa);
    return HasNoKernel(made) ? MakeNaiveKernel(part, options) : std::move(made);
  });
}

}  // namespace

KernelResult MakeNaiveKernel(const NodeSignature& signature, const KernelOptions& options) {
  if (signature.node->fusion != nullptr) {
    return MakePartsKernel(
        signature, [&](const NodeSignature& part) { return MakeNaiveKernel(part, options); });
  }
  return MakeAsIsOrConverted(signature, options,
                             [&](const NodeSignature& as) { return MakeNaiveAsIs(as, options); });
}

KernelResult MakeEigenKernel(const NodeSignature& signature, const KernelOptions& options,
                             Isa isa) {
  if (signature.node->fusion != nullptr) return MakeEigenFused(signature, options, isa);
  const std::string& op_type = signature.node->op_type;
  const EigenKernel* kernel = FindEigenKernel(isa, op_type);
  if (kernel == nullptr) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                fmt::format("the eigen backend has no {}", op_type));
  }
  return MakeAsIsOrConverted(signature, options,
                             [&](const NodeSignature& as) { return kernel->factory(as, options); });
}

}  // namespace tinyprof
