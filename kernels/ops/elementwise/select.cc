#include "kernels/ops/elementwise/select.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/ops/elementwise/broadcast.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/shape/copy.h"

namespace tinyprof {
namespace {

template <class E>
class WhereKernel final : public Kernel {
 public:
  WhereKernel(const NodeSignature& signature, const KernelOptions& options)
      : plan_(PlanBroadcast(
            signature.output().shape,
            {&signature.input(0).shape, &signature.input(1).shape, &signature.input(2).shape})),
        threads_(ThreadsFor(plan_.element_count, options.threads)) {}
  std::string implementation() const override { return "select"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(plan_.element_count, part, threads_);
      ForEachRow(plan_, range.begin, range.end,
                 [&](const BroadcastRow& row) { SelectRow(args, row); });
    }
  }

 private:
  void SelectRow(const KernelArgs& args, const BroadcastRow& row) const {
    const uint8_t* condition = args.In<uint8_t>(0) + row.offsets[0];
    const E* chosen = args.In<E>(1) + row.offsets[1];
    const E* other = args.In<E>(2) + row.offsets[2];
    E* out = args.Out<E>() + row.begin;
    for (int64_t i = 0; i < row.length; ++i) {
      out[i] = condition[i * plan_.inner_stride(0)] != 0 ? chosen[i * plan_.inner_stride(1)]
                                                         : other[i * plan_.inner_stride(2)];
    }
  }

  BroadcastPlan plan_;
  int threads_;
};

// Booleans are bytes, told apart from uint8 by this.
struct BoolByte {
  uint8_t value;
};

template <class To, class From>
To Converted(From from) {
  if constexpr (std::is_same_v<From, BoolByte>) {
    return Converted<To>(uint8_t{from.value != 0});
  } else if constexpr (std::is_same_v<To, BoolByte>) {
    return {from != From(0)};
  } else if constexpr (std::is_floating_point_v<To> || std::is_integral_v<From>) {
    return static_cast<To>(from);
  } else {
    // Both ends are powers of two, so they are exact in every floating-point type.
    constexpr int kBits = std::numeric_limits<To>::digits;
    const From end = std::ldexp(From(1), kBits);
    if (std::isnan(from)) return 0;
    if (from >= end) return std::numeric_limits<To>::max();
    if (from < (std::is_signed_v<To> ? -end : From(0))) return std::numeric_limits<To>::min();
    return static_cast<To>(from);
  }
}

template <class To, class From>
void Convert(const void* from, void* to, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    static_cast<To*>(to)[i] = Converted<To>(static_cast<const From*>(from)[i]);
  }
}

using ConvertFn = void (*)(const void* from, void* to, int64_t begin, int64_t end);

// visit(std::type_identity<E>()) for the type of `dtype`; the half types have been refused.
template <class Visit>
ConvertFn VisitType(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kFloat32:
      return visit(std::type_identity<float>());
    case DType::kFloat64:
      return visit(std::type_identity<double>());
    case DType::kInt8:
      return visit(std::type_identity<int8_t>());
    case DType::kUInt8:
      return visit(std::type_identity<uint8_t>());
    case DType::kInt32:
      return visit(std::type_identity<int32_t>());
    case DType::kInt64:
      return visit(std::type_identity<int64_t>());
    case DType::kBool:
      return visit(std::type_identity<BoolByte>());
    case DType::kFloat16:
    case DType::kBFloat16:
      break;
  }
  return nullptr;
}

ConvertFn FindConversion(DType from, DType to) {
  return VisitType(from, [to]<class From>(std::type_identity<From>) {
    return VisitType(
        to, []<class To>(std::type_identity<To>) -> ConvertFn { return &Convert<To, From>; });
  });
}

class CastKernel final : public Kernel {
 public:
  CastKernel(ConvertFn convert, int64_t count, int threads)
      : convert_(convert), count_(count), threads_(ThreadsFor(count, threads)) {}
  std::string implementation() const override { return "convert"; }
  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(count_, part, threads_);
      convert_(args.inputs[0].data, args.outputs[0].data, range.begin, range.end);
    }
  }

 private:
  ConvertFn convert_;
  int64_t count_;
  int threads_;
};

class DropoutKernel final : public Kernel {
 public:
  explicit DropoutKernel(std::unique_ptr<Kernel> copy) : copy_(std::move(copy)) {}
  std::string implementation() const override { return copy_->implementation(); }
  void Run(const KernelArgs& args) const noexcept override {
    copy_->Run(args);
    if (args.outputs.size() < 2 || args.outputs[1].data == nullptr) return;
    std::memset(args.outputs[1].data, 1, static_cast<size_t>(args.outputs[1].element_count()));
  }

 private:
  std::unique_ptr<Kernel> copy_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeWhereKernel(const NodeSignature& signature,
                                                const KernelOptions& options) {
  switch (ByteSize(signature.output().dtype)) {
    case 1:
      return std::make_unique<WhereKernel<uint8_t>>(signature, options);
    case 2:
      return std::make_unique<WhereKernel<uint16_t>>(signature, options);
    case 4:
      return std::make_unique<WhereKernel<uint32_t>>(signature, options);
    default:
      return std::make_unique<WhereKernel<uint64_t>>(signature, options);
  }
}

Result<std::unique_ptr<Kernel>> MakeCastKernel(const NodeSignature& signature,
                                               const KernelOptions& options) {
  const ConvertFn convert = FindConversion(signature.input(0).dtype, signature.output().dtype);
  if (convert == nullptr) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL", "Cast has no kernel for half precision");
  }
  return std::make_unique<CastKernel>(convert, signature.output().shape.element_count(),
                                      options.threads);
}

Result<std::unique_ptr<Kernel>> MakeDropoutKernel(const NodeSignature& signature,
                                                  const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> copy, MakeCopyKernel(signature, options));
  return std::make_unique<DropoutKernel>(std::move(copy));
}

}  // namespace tinyprof
