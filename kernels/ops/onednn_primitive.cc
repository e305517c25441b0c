#include "kernels/ops/onednn_primitive.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <utility>

#include "kernels/base/check.h"
#include "kernels/ops/partition.h"
#include "kernels/tensor/buffer.h"

namespace tinyprof::onednn {
namespace {

int64_t AlignedBytes(const Desc& desc) {
  constexpr auto kAlignment = static_cast<int64_t>(Buffer::kAlignment);
  return (static_cast<int64_t>(desc.get_size()) + kAlignment - 1) / kAlignment * kAlignment;
}

dnnl::memory Unbound(const Desc& desc) { return {desc, Engine(), DNNL_MEMORY_NONE}; }

// `accepts` the type of all operands, and they have elements.
template <class Accepts>
Status CheckAll(const NodeSignature& signature, std::string_view wanted, const Accepts& accepts) {
  const auto is_usable = [&](const TensorType& type) {
    return accepts(type.dtype) && type.shape.element_count() > 0;
  };
  for (const NodeSignature::Input& input : signature.inputs) {
    if (input.present && !is_usable(input.type)) {
      return NoKernel(signature, fmt::format("its inputs are not {}, or empty", wanted));
    }
  }
  for (const TensorType& output : signature.outputs) {
    if (!is_usable(output)) {
      return NoKernel(signature, fmt::format("its outputs are not {}, or empty", wanted));
    }
  }
  return {};
}

}  // namespace

dnnl::primitive_attr Attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Operand Input(int argument, size_t index, const Desc& desc) {
  return {.argument = argument, .index = index, .given = desc, .wanted = desc};
}

Operand Output(int argument, size_t index, const Desc& desc) {
  return {.argument = argument, .is_output = true, .index = index, .given = desc, .wanted = desc};
}

Operand Weight(int argument, size_t index, const Desc& given, const Desc& wanted) {
  return {.argument = argument, .index = index, .given = given, .wanted = wanted};
}

Operand ZeroPoint(int argument, size_t index) {
  const Desc desc = Plain({1}, DType::kInt32);
  return {
      .argument = argument, .index = index, .given = desc, .wanted = desc, .is_zero_point = true};
}

Operand Made(int argument, const Desc& given, const Desc& wanted,
             std::function<void(float*)> make) {
  return {.argument = argument, .given = given, .wanted = wanted, .make = std::move(make)};
}

PrimitiveKernel::PrimitiveKernel(const dnnl::primitive_desc_base& description,
                                 const dnnl::primitive& primitive,
                                 const std::vector<Operand>& operands,
                                 const NodeSignature& signature, int threads, const Extras& extras)
    : implementation_(description.impl_info_str()),
      threads_(threads),
      extras_(extras),
      primitive_(primitive),
      stream_(Engine()) {
  for (const Operand& operand : operands) {
    Argument argument{.source = operand.is_output ? Source::kOutput : Source::kInput,
                      .index = operand.index,
                      .packed_offset = 0,
                      .memory = Unbound(operand.wanted)};
    if (operand.is_zero_point) {
      argument.source = Source::kZeroPoint;
      argument.zero_point = std::make_unique<int32_t>(0);
    }
    if (operand.is_output) output_bytes_ = static_cast<int64_t>(operand.wanted.get_size());
    if (operand.given != operand.wanted || operand.make != nullptr) {
      argument.source = Source::kPacked;
      argument.packed_offset = packed_bytes_;
      packings_.push_back(
          {.data = operand.make != nullptr ? nullptr : signature.inputs[operand.index].data,
           .given = operand.given,
           .wanted = operand.wanted,
           .offset = packed_bytes_,
           .make = operand.make});
      packed_bytes_ += AlignedBytes(operand.wanted);
    }
    exec_args_.push_back({.arg = operand.argument, .memory = argument.memory.get()});
    arguments_.push_back(std::move(argument));
  }
  const Desc scratchpad = description.scratchpad_desc();
  scratch_bytes_ = static_cast<int64_t>(scratchpad.get_size());
  if (scratch_bytes_ == 0) return;
  arguments_.push_back(
      {.source = Source::kScratch, .index = 0, .packed_offset = 0, .memory = Unbound(scratchpad)});
  exec_args_.push_back({.arg = DNNL_ARG_SCRATCHPAD, .memory = arguments_.back().memory.get()});
}

Status PrimitiveKernel::Pack(std::span<std::byte> packed) {
  packed_ = packed.data();
  const TeamSize team(threads_);
  try {
    for (const Packing& packing : packings_) {
      Buffer made;
      const void* data = packing.data;
      if (packing.make != nullptr) {
        TINYPROF_ASSIGN_OR_RETURN(made,
                                  Buffer::Create(static_cast<int64_t>(packing.given.get_size())));
        packing.make(reinterpret_cast<float*>(made.data()));
        data = made.data();
      }
      // The library writes through the handle of a source never.
      dnnl::memory from(packing.given, Engine(), const_cast<void*>(data));
      dnnl::memory to(packing.wanted, Engine(), packed_ + packing.offset);
      dnnl::reorder(from, to).execute(stream_, from, to);
      stream_.wait();
    }
  } catch (const dnnl::error& error) {
    return Fail(
        ErrorCode::kResourceExhausted, "OUT_OF_MEMORY",
        fmt::format("oneDNN cannot pack the weights ({}): use a smaller model", error.message));
  }
  return {};
}

void* PrimitiveKernel::AddressOf(const Argument& argument, const KernelArgs& args) const {
  switch (argument.source) {
    case Source::kInput:
      return const_cast<void*>(args.inputs[argument.index].data);
    case Source::kOutput:
      return args.outputs[argument.index].data;
    case Source::kPacked:
      return packed_ + argument.packed_offset;
    case Source::kZeroPoint: {
      const ConstTensorView& given = args.inputs[argument.index];
      *argument.zero_point = given.type.dtype == DType::kInt8 ? int32_t{*given.As<int8_t>()}
                                                              : int32_t{*given.As<uint8_t>()};
      return argument.zero_point.get();
    }
    case Source::kScratch:
      break;
  }
  return args.scratch.data();
}

void PrimitiveKernel::CopySummed(const KernelArgs& args) const {
  const auto* from = static_cast<const std::byte*>(args.inputs[*extras_.summed].data);
  auto* to = static_cast<std::byte*>(args.outputs[0].data);
  if (from == to) return;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
  for (int thread = 0; thread < threads_; ++thread) {
    const Partition part = PartOf(output_bytes_, thread, threads_);
    std::copy(from + part.begin, from + part.end, to + part.begin);
  }
}

void PrimitiveKernel::Run(const KernelArgs& args) const noexcept {
  const TeamSize team(threads_);
  if (extras_.summed) CopySummed(args);
  for (const Argument& argument : arguments_) {
    void* address = AddressOf(argument, args);
    // Setting an address also writes the padding of blocked layouts: only when it is another one.
    if (argument.memory.get_data_handle() != address) argument.memory.set_data_handle(address);
  }
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), stream_.get(), static_cast<int>(exec_args_.size()), exec_args_.data());
  TINYPROF_CHECK(status == dnnl_success);
}

TeamSize::TeamSize(int threads) : before_(omp_get_max_threads()) {
  if (before_ != threads) omp_set_num_threads(threads);
}

TeamSize::~TeamSize() {
  if (omp_get_max_threads() != before_) omp_set_num_threads(before_);
}

tl::unexpected<Error> NoKernel(const NodeSignature& signature, std::string_view why) {
  return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
              fmt::format("oneDNN has no kernel for this {}: {}", signature.node->op_type, why));
}

Status CheckOperands(const NodeSignature& signature) {
  return CheckAll(signature, "float32", [](DType dtype) { return dtype == DType::kFloat32; });
}

Status CheckAnyOperands(const NodeSignature& signature) {
  return CheckAll(signature, "of a type that it has",
                  [](DType dtype) { return DataTypeOf(dtype) != dnnl::memory::data_type::undef; });
}

tl::unexpected<Error> Refused(const NodeSignature& signature, const dnnl::error& error) {
  if (error.status != dnnl_out_of_memory) return NoKernel(signature, error.message);
  return Fail(ErrorCode::kResourceExhausted, "OUT_OF_MEMORY",
              fmt::format("oneDNN ran out of memory while it made {}: use a smaller model or batch",
                          signature.node->op_type));
}

}  // namespace tinyprof::onednn
