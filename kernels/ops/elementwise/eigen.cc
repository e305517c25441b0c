// Element-wise operators of several operands on Eigen, and the family's table.
#include <Eigen/Core>
#include <array>
#include <vector>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/elementwise/binary_functors.h"
#include "kernels/ops/elementwise/broadcast.h"
#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/elementwise/eigen_unary.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

#define TINYPROF_EIGEN_BINARY(Struct, Of, expression) \
  struct Struct {                                     \
    using Scalar = Of;                                \
    template <class A, class B>                       \
    static auto Apply(const A& a, const B& b) {       \
      return expression;                              \
    }                                                 \
  }
TINYPROF_EIGEN_BINARY(AddRow, Add, a + b);
TINYPROF_EIGEN_BINARY(SubRow, Sub, a - b);
TINYPROF_EIGEN_BINARY(MulRow, Mul, a* b);
TINYPROF_EIGEN_BINARY(DivRow, Div, a / b);
TINYPROF_EIGEN_BINARY(MaxRow, Maximum, a.max(b));
TINYPROF_EIGEN_BINARY(MinRow, Minimum, a.min(b));
TINYPROF_EIGEN_BINARY(SumRow, Sum, a + b);
TINYPROF_EIGEN_BINARY(PowRow, Pow, Eigen::pow(a, b));
// Eigen does not vectorize a choice by sign; the compiler does.
TINYPROF_EIGEN_BINARY(PReluRow, PRelu,
                      a.binaryExpr(b, [](float x, float slope) { return PRelu::Apply(x, slope); }));
#undef TINYPROF_EIGEN_BINARY

// out = Function(a, b) for one row; a stride is 1, or 0 for an operand that is one number.
template <class Function>
void ApplyRow(const float* a, int64_t stride_a, const float* b, int64_t stride_b, float* out,
              int64_t length) {
  FloatRow y(out, length);
  const auto constant = [length](float value) { return Eigen::ArrayXf::Constant(length, value); };
  if (stride_a != 0 && stride_b != 0) {
    y = Function::Apply(ConstFloatRow(a, length), ConstFloatRow(b, length));
  } else if (stride_a != 0) {
    y = Function::Apply(ConstFloatRow(a, length), constant(*b));
  } else if (stride_b != 0) {
    y = Function::Apply(constant(*a), ConstFloatRow(b, length));
  } else {
    y = Function::Apply(constant(*a), constant(*b));
  }
}

// Folds all operands from the left, each thread on its own range of the output.
template <class Function>
class FoldKernel final : public Kernel {
 public:
  FoldKernel(const NodeSignature& signature, const KernelOptions& options)
      : count_(signature.output().shape.element_count()),
        threads_(ThreadsFor(count_, options.threads)) {
    const Shape& shape = signature.output().shape;
    for (size_t k = 1; k < signature.inputs.size(); ++k) {
      const Shape& left = k == 1 ? signature.input(0).shape : shape;
      plans_.push_back(PlanBroadcast(shape, {&left, &signature.input(k).shape}));
    }
  }
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(count_, part, threads_);
      if (plans_.empty())
        std::copy(args.In<float>(0) + range.begin, args.In<float>(0) + range.end,
                  args.Out<float>() + range.begin);
      for (size_t k = 0; k < plans_.size(); ++k) {
        Fold(plans_[k], k == 0 ? args.In<float>(0) : args.Out<float>(), args.In<float>(k + 1),
             args.Out<float>(), range);
      }
    }
  }

 private:
  static void Fold(const BroadcastPlan& plan, const float* a, const float* b, float* out,
                   Partition range) {
    ForEachRow(plan, range.begin, range.end, [&](const BroadcastRow& row) {
      ApplyRow<Function>(a + row.offsets[0], plan.inner_stride(0), b + row.offsets[1],
                         plan.inner_stride(1), out + row.begin, row.length);
    });
  }

  int64_t count_;
  int threads_;
  std::vector<BroadcastPlan> plans_;
};

template <class Row>
constexpr EigenKernel Entry() {
  return {Row::Scalar::kType, &MakeFloatKernel<FoldKernel<Row>>};
}

constexpr std::array kKernels = {
    Entry<AddRow>(), Entry<SubRow>(), Entry<MulRow>(), Entry<DivRow>(),   Entry<MaxRow>(),
    Entry<MinRow>(), Entry<SumRow>(), Entry<PowRow>(), Entry<PReluRow>(),
};

std::vector<EigenKernel> JoinTables() {
  std::vector<EigenKernel> all(kKernels.begin(), kKernels.end());
  const std::span<const EigenKernel> unary = UnaryEigenKernels();
  all.insert(all.end(), unary.begin(), unary.end());
  return all;
}

}  // namespace

std::span<const EigenKernel> ElementwiseEigenKernels() {
  static const std::vector<EigenKernel> kAll = JoinTables();
  return kAll;
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
