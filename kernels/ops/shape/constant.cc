// Shape and ConstantOfShape: their outputs are known when the kernel is made.
#include <algorithm>
#include <vector>

#include "kernels/ops/partition.h"
#include "kernels/ops/shape/infer.h"
#include "kernels/ops/shape/kernels.h"

namespace tinyprof {
namespace {

class ShapeKernel final : public Kernel {
 public:
  explicit ShapeKernel(std::vector<int64_t> elements) : elements_(std::move(elements)) {}
  std::string implementation() const override { return "constant"; }
  void Run(const KernelArgs& args) const noexcept override {
    std::copy(elements_.begin(), elements_.end(), args.Out<int64_t>());
  }

 private:
  std::vector<int64_t> elements_;
};

template <class E>
class FillKernel final : public Kernel {
 public:
  FillKernel(E value, int64_t count, int threads)
      : value_(value), count_(count), threads_(ThreadsFor(count, threads)) {}
  std::string implementation() const override { return "fill"; }
  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(count_, part, threads_);
      std::fill(args.Out<E>() + range.begin, args.Out<E>() + range.end, value_);
    }
  }

 private:
  E value_;
  int64_t count_;
  int threads_;
};

}  // namespace

KernelResult MakeShapeKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  return std::make_unique<ShapeKernel>(ShapeElementsOf(signature));
}

KernelResult MakeConstantOfShapeKernel(const NodeSignature& signature,
                                       const KernelOptions& options) {
  const int64_t count = signature.output().shape.element_count();
  switch (signature.output().dtype) {
    case DType::kInt64:
      return std::make_unique<FillKernel<int64_t>>(signature.Int("value", 0), count,
                                                   options.threads);
    case DType::kFloat64:
      return std::make_unique<FillKernel<double>>(signature.Float("value", 0), count,
                                                  options.threads);
    default:
      return std::make_unique<FillKernel<float>>(signature.Float("value", 0), count,
                                                 options.threads);
  }
}

}  // namespace tinyprof
