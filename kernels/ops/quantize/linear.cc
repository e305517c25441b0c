#include "kernels/ops/quantize/linear.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/partition.h"

namespace tinyprof {
namespace {

using Types = std::vector<TensorType>;
using KernelResult = Result<std::unique_ptr<Kernel>>;

tl::unexpected<Error> WrongType(const NodeSignature& signature, size_t index,
                                std::string_view wanted) {
  return Fail(ErrorCode::kInvalidArgument, "DTYPE_MISMATCH",
              fmt::format("{} wants {} for input {}, got {}", signature.node->op_type, wanted,
                          index, Name(signature.input(index).dtype)));
}

Status CheckFloat32(const NodeSignature& signature, size_t index) {
  if (signature.input(index).dtype == DType::kFloat32) return {};
  return WrongType(signature, index, "float32");
}

bool IsByte(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUInt8; }

// Calls run(i) for all elements, shared among the threads.
template <class Run>
void ForEachElement(int64_t count, int threads, const Run& run) {
#pragma omp parallel for num_threads(threads)
  for (int part = 0; part < threads; ++part) {
    const Partition range = PartOf(count, part, threads);
    for (int64_t i = range.begin; i < range.end; ++i) run(i);
  }
}

template <class Q>
class QuantizeKernel final : public Kernel {
 public:
  QuantizeKernel(const ChannelLayout& layout, int threads)
      : layout_(layout), threads_(ThreadsFor(layout.count, threads)) {}
  std::string implementation() const override { return "quantize"; }
  void Run(const KernelArgs& args) const noexcept override {
    const Q* zeros = args.has_input(2) ? args.In<Q>(2) : nullptr;
    ForEachElement(layout_.count, threads_, [&](int64_t i) {
      const int64_t channel = layout_.channel_of(i);
      const float zero = zeros == nullptr ? 0.0F : static_cast<float>(zeros[channel]);
      const float scaled = args.In<float>(0)[i] / args.In<float>(1)[channel];
      args.Out<Q>()[i] = Saturated<Q>(std::nearbyint(scaled) + zero);
    });
  }

 private:
  ChannelLayout layout_;
  int threads_;
};

template <class Q>
class DequantizeKernel final : public Kernel {
 public:
  DequantizeKernel(const ChannelLayout& layout, int threads)
      : layout_(layout), threads_(ThreadsFor(layout.count, threads)) {}
  std::string implementation() const override { return "dequantize"; }
  void Run(const KernelArgs& args) const noexcept override {
    const Q* zeros = args.has_input(2) ? args.In<Q>(2) : nullptr;
    ForEachElement(layout_.count, threads_, [&](int64_t i) {
      const int64_t channel = layout_.channel_of(i);
      const int64_t zero = zeros == nullptr ? 0 : zeros[channel];
      args.Out<float>()[i] =
          static_cast<float>(args.In<Q>(0)[i] - zero) * args.In<float>(1)[channel];
    });
  }

 private:
  ChannelLayout layout_;
  int threads_;
};

// Outputs: the elements, their scale and their zero point.
class DynamicQuantizeKernel final : public Kernel {
 public:
  explicit DynamicQuantizeKernel(int64_t count, int threads)
      : count_(count), threads_(ThreadsFor(count, threads)) {}
  std::string implementation() const override { return "quantize"; }
  void Run(const KernelArgs& args) const noexcept override {
    const float* x = args.In<float>(0);
    float low = 0;
    float high = 0;
    for (int64_t i = 0; i < count_; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
    }
    constexpr float kSteps = 255;
    const float scale = high > low ? (high - low) / kSteps : 1.0F;
    const auto zero = Saturated<uint8_t>(std::nearbyint((0 - low) / scale));
    ForEachElement(count_, threads_, [&](int64_t i) {
      args.Out<uint8_t>()[i] =
          Saturated<uint8_t>(std::nearbyint(x[i] / scale) + static_cast<float>(zero));
    });
    *args.Out<float>(1) = scale;
    *args.Out<uint8_t>(2) = zero;
  }

 private:
  int64_t count_;
  int threads_;
};

}  // namespace

Result<ChannelLayout> ChannelLayoutOf(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  const Shape& scale = signature.input(1).shape;
  ChannelLayout layout{.inner = std::max<int64_t>(shape.element_count(), 1),
                       .count = shape.element_count()};
  if (scale.element_count() != 1) {
    TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                              NormalizeAxis(signature, signature.Int("axis", 1), shape.rank()));
    layout.channels = shape[axis];
    layout.inner = std::max<int64_t>(shape.stride(axis), 1);
    TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 1, "scale", Shape{shape[axis]}));
  }
  TINYPROF_RETURN_IF_ERROR(CheckInputShape(signature, 2, "zero point", scale));
  return layout;
}

Result<Types> InferQuantize(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloat32(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckFloat32(signature, 1));
  TINYPROF_RETURN_IF_ERROR(ChannelLayoutOf(signature));
  const DType dtype = signature.has_input(2) ? signature.input(2).dtype : DType::kUInt8;
  if (!IsByte(dtype)) return WrongType(signature, 2, "int8 or uint8");
  return Types{{dtype, signature.input(0).shape}};
}

Result<Types> InferDequantize(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloat32(signature, 1));
  const DType dtype = signature.input(0).dtype;
  if (!IsByte(dtype) && dtype != DType::kInt32) {
    return WrongType(signature, 0, "int8, uint8 or int32");
  }
  if (signature.has_input(2) && signature.input(2).dtype != dtype) {
    return WrongType(signature, 2, Name(dtype));
  }
  TINYPROF_RETURN_IF_ERROR(ChannelLayoutOf(signature));
  return Types{{DType::kFloat32, signature.input(0).shape}};
}

Result<Types> InferDynamicQuantize(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 3, 3));
  TINYPROF_RETURN_IF_ERROR(CheckFloat32(signature, 0));
  return Types{{DType::kUInt8, signature.input(0).shape},
               {DType::kFloat32, Shape()},
               {DType::kUInt8, Shape()}};
}

Result<Cost> QuantizeCost(const NodeSignature& signature) {
  return PerElementCost({.add_mul_div = 1}, signature.input(0).shape.element_count());
}

Result<Cost> DynamicQuantizeCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(Cost cost, PerElementCost({.add_mul_div = 1, .minmax = 2},
                                                      signature.input(0).shape.element_count()));
  // The scale and the zero point: two subtractions and two divisions.
  cost.flops.add_mul_div += 4;
  return cost;
}

KernelResult MakeQuantizeKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const ChannelLayout layout, ChannelLayoutOf(signature));
  if (signature.output().dtype == DType::kInt8) {
    return std::make_unique<QuantizeKernel<int8_t>>(layout, options.threads);
  }
  return std::make_unique<QuantizeKernel<uint8_t>>(layout, options.threads);
}

KernelResult MakeDequantizeKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const ChannelLayout layout, ChannelLayoutOf(signature));
  switch (signature.input(0).dtype) {
    case DType::kInt8:
      return std::make_unique<DequantizeKernel<int8_t>>(layout, options.threads);
    case DType::kUInt8:
      return std::make_unique<DequantizeKernel<uint8_t>>(layout, options.threads);
    default:
      return std::make_unique<DequantizeKernel<int32_t>>(layout, options.threads);
  }
}

KernelResult MakeDynamicQuantizeKernel(const NodeSignature& signature,
                                       const KernelOptions& options) {
  return std::make_unique<DynamicQuantizeKernel>(signature.input(0).shape.element_count(),
                                                 options.threads);
}

}  // namespace tinyprof
