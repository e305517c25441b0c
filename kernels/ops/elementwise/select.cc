#include "kernels/ops/elementwise/select.h"

#include <cstring>

#include "kernels/ops/convert.h"
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
  return std::make_unique<CastKernel>(
      FindConversion(signature.input(0).dtype, signature.output().dtype),
      signature.output().shape.element_count(), options.threads);
}

Result<std::unique_ptr<Kernel>> MakeDropoutKernel(const NodeSignature& signature,
                                                  const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> copy, MakeCopyKernel(signature, options));
  return std::make_unique<DropoutKernel>(std::move(copy));
}

}  // namespace tinyprof
