#include "kernels/ops/parts_kernel.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/graph/fusion.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof {
namespace {

int64_t RoundUp(int64_t bytes) {
  constexpr auto kAlignment = static_cast<int64_t>(Buffer::kAlignment);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class PartsKernel final : public PackingKernel {
 public:
  static Result<std::unique_ptr<Kernel>> Create(const NodeSignature& fused,
                                                const PartFactory& make) {
    std::unique_ptr<PartsKernel> kernel(new PartsKernel());
    kernel->fusion_ = fused.node->fusion;
    for (size_t i = 0; i < kernel->fusion_->parts.size(); ++i) {
      TINYPROF_RETURN_IF_ERROR(kernel->AddPart(PartSignature(fused, i), make));
    }
    return kernel;
  }

  std::string implementation() const override {
    std::string names;
    for (const Part& part : parts_) {
      if (!names.empty()) names += ", ";
      names += part.kernel->implementation();
    }
    return names;
  }

  int64_t scratch_bytes() const override { return between_bytes_ + part_scratch_bytes_; }

  int64_t packed_bytes() const override {
    int64_t bytes = 0;
    for (const Part& part : parts_) bytes += RoundUp(PackedBytesOf(*part.kernel));
    return bytes;
  }

  Status Pack(std::span<std::byte> packed) override {
    for (Part& part : parts_) {
      const auto bytes = static_cast<size_t>(PackedBytesOf(*part.kernel));
      TINYPROF_RETURN_IF_ERROR(PackInto(*part.kernel, packed.first(bytes)));
      packed = packed.subspan(static_cast<size_t>(RoundUp(static_cast<int64_t>(bytes))));
    }
    return {};
  }

  void Run(const KernelArgs& args) const noexcept override {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      const std::vector<FusedPart::Source>& sources = fusion_->parts[i].sources;
      for (size_t k = 0; k < sources.size(); ++k) {
        part.inputs[k].data = DataOf(sources[k], args);
      }
      const bool is_last = i + 1 == parts_.size();
      part.output.data = is_last ? args.outputs[0].data : args.scratch.data() + part.offset;
      part.kernel->Run({.inputs = part.inputs,
                        .outputs = {&part.output, 1},
                        .scratch = args.scratch.subspan(static_cast<size_t>(between_bytes_))});
    }
  }

 private:
  struct Part {
    std::unique_ptr<Kernel> kernel;
    int64_t offset = 0;  // of its output in the scratch
    // Made ahead, since Run must not allocate; one thread runs a kernel at a time.
    mutable std::vector<ConstTensorView> inputs;
    mutable TensorView output;
  };

  PartsKernel() = default;

  Status AddPart(const NodeSignature& signature, const PartFactory& make) {
    Part part;
    TINYPROF_ASSIGN_OR_RETURN(part.kernel, make(signature));
    for (const NodeSignature::Input& input : signature.inputs) {
      part.inputs.push_back({.type = input.type, .data = nullptr});
    }
    part.output = {.type = signature.output(), .data = nullptr};
    part.offset = between_bytes_;
    if (parts_.size() + 1 < fusion_->parts.size()) {
      between_bytes_ += RoundUp(signature.output().byte_size());
    }
    part_scratch_bytes_ = std::max(part_scratch_bytes_, part.kernel->scratch_bytes());
    parts_.push_back(std::move(part));
    return {};
  }

  const void* DataOf(const FusedPart::Source& source, const KernelArgs& args) const {
    switch (source.kind) {
      case FusedPart::Source::Kind::kInput:
        return args.inputs[source.index].data;
      case FusedPart::Source::Kind::kPart:
        return parts_[source.index].output.data;
      case FusedPart::Source::Kind::kNothing:
        break;
    }
    return nullptr;
  }

  std::shared_ptr<const Fusion> fusion_;
  std::vector<Part> parts_;
  int64_t between_bytes_ = 0;
  int64_t part_scratch_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakePartsKernel(const NodeSignature& fused,
                                                const PartFactory& make) {
  return PartsKernel::Create(fused, make);
}

}  // namespace tinyprof
