// The reductions on Eigen. Where the reduced elements of an output are neighbours, each output is a
// vectorized fold of runs; else a run of neighbouring outputs is folded at once.
#include <Eigen/Core>
#include <array>
#include <cmath>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/reduce/parallel.h"
#include "kernels/ops/reduce/reduce.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// A fold gives its start (Identity), how a run becomes one number (Run), how numbers or arrays join
// (Join), how an input enters (Enter), and what is done at the end (Last).
struct SumFold {
  static constexpr float kIdentity = 0;
  template <class X>
  static float Run(const X& x) {
    return x.sum();
  }
  template <class A, class B>
  static auto Join(const A& a, const B& b) {
    return a + b;
  }
  template <class X>
  static const X& Enter(const X& x) {
    return x;
  }
  template <class X>
  static void Last(X&& /*folded*/, int64_t /*n*/) {}
};

struct MeanFold : SumFold {
  template <class X>
  static void Last(X&& folded, int64_t n) {
    folded /= static_cast<float>(n);
  }
};

struct L2Fold : SumFold {
  template <class X>
  static auto Enter(const X& x) {
    return x.square();
  }
  template <class X>
  static void Last(X&& folded, int64_t /*n*/) {
    folded = folded.sqrt();
  }
};

struct ProductFold : SumFold {
  static constexpr float kIdentity = 1;
  template <class X>
  static float Run(const X& x) {
    return x.prod();
  }
  template <class A, class B>
  static auto Join(const A& a, const B& b) {
    return a * b;
  }
};

struct MaxFold : SumFold {
  static constexpr float kIdentity = -std::numeric_limits<float>::infinity();
  template <class X>
  static float Run(const X& x) {
    return x.maxCoeff();
  }
  template <class A, class B>
  static auto Join(const A& a, const B& b) {
    return a.max(b);
  }
};

struct MinFold : SumFold {
  static constexpr float kIdentity = std::numeric_limits<float>::infinity();
  template <class X>
  static float Run(const X& x) {
    return x.minCoeff();
  }
  template <class A, class B>
  static auto Join(const A& a, const B& b) {
    return a.min(b);
  }
};

struct L1Fold : SumFold {
  template <class X>
  static auto Enter(const X& x) {
    return x.abs();
  }
};

struct SumSquareFold : SumFold {
  template <class X>
  static auto Enter(const X& x) {
    return x.square();
  }
};

struct LogSumFold : SumFold {
  template <class X>
  static void Last(X&& folded, int64_t /*n*/) {
    folded = folded.log();
  }
};

using StridedRow = Eigen::Map<const Eigen::ArrayXf, 0, Eigen::InnerStride<>>;

template <class Fold>
class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const ReducePlan& plan, int threads)
      : plan_(plan), threads_(ThreadsFor(plan, threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
    ForEachOutputRow(plan_, threads_, [&](const BroadcastRow& row) {
      const float* x = args.In<float>(0) + row.offsets[0];
      FloatRow y(args.Out<float>() + row.begin, row.length);
      reduces_runs() ? FoldRuns(x, y) : FoldRows(x, y);
      Fold::Last(y, plan_.reduced.element_count);
    });
  }

 private:
  bool reduces_runs() const {
    return plan_.reduced.inner_stride(0) == 1 || plan_.kept.inner_stride(0) != 1;
  }

  // Each output by itself.
  void FoldRuns(const float* x, FloatRow& y) const {
    for (Eigen::Index i = 0; i < y.size(); ++i) {
      Eigen::Array<float, 1, 1> folded(Fold::kIdentity);
      const float* first = x + i * plan_.kept.inner_stride(0);
      ForEachRow(plan_.reduced, 0, plan_.reduced.element_count, [&](const BroadcastRow& row) {
        const Eigen::Array<float, 1, 1> next(FoldRun(first + row.offsets[0], row.length));
        folded = Fold::Join(folded, next).eval();
      });
      y[i] = folded[0];
    }
  }

  float FoldRun(const float* x, int64_t length) const {
    const int64_t stride = plan_.reduced.inner_stride(0);
    if (stride == 1) return Fold::Run(Fold::Enter(ConstFloatRow(x, length)));
    return Fold::Run(Fold::Enter(StridedRow(x, length, Eigen::InnerStride<>(stride))));
  }

  // Neighbouring outputs at once: one vector operation a reduced element.
  void FoldRows(const float* x, FloatRow& y) const {
    y.setConstant(Fold::kIdentity);
    ForEachRow(plan_.reduced, 0, plan_.reduced.element_count, [&](const BroadcastRow& row) {
      for (int64_t i = 0; i < row.length; ++i) {
        const float* next = x + row.offsets[0] + i * plan_.reduced.inner_stride(0);
        y = Fold::Join(y, Fold::Enter(ConstFloatRow(next, y.size())));
      }
    });
  }

  ReducePlan plan_;
  int threads_;
};

template <class Fold>
Result<std::unique_ptr<Kernel>> MakeReduce(const NodeSignature& signature,
                                           const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(RequireFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(const ReducePlan plan, ReducePlanOf(signature));
  return std::make_unique<ReduceKernel<Fold>>(plan, options.threads);
}

// Two passes over the elements of each output: the largest, then the sum of exponentials below it.
class LogSumExpKernel final : public Kernel {
 public:
  LogSumExpKernel(const ReducePlan& plan, int threads)
      : plan_(plan), threads_(ThreadsFor(plan, threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
    ForEachOutput(plan_, threads_, [&](int64_t output, int64_t first) {
      args.Out<float>()[output] = Fold(args.In<float>(0) + first);
    });
  }

 private:
  float Fold(const float* x) const {
    const Eigen::InnerStride<> stride(plan_.reduced.inner_stride(0));
    float largest = -std::numeric_limits<float>::infinity();
    ForEachRow(plan_.reduced, 0, plan_.reduced.element_count, [&](const BroadcastRow& row) {
      const StridedRow elements(x + row.offsets[0], row.length, stride);
      largest = std::max(largest, elements.maxCoeff());
    });
    const float shift = std::isfinite(largest) ? largest : 0.0F;
    float sum = 0;
    ForEachRow(plan_.reduced, 0, plan_.reduced.element_count, [&](const BroadcastRow& row) {
      sum += (StridedRow(x + row.offsets[0], row.length, stride) - shift).exp().sum();
    });
    return std::log(sum) + shift;
  }

  ReducePlan plan_;
  int threads_;
};

Result<std::unique_ptr<Kernel>> MakeLogSumExp(const NodeSignature& signature,
                                              const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(RequireFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(const ReducePlan plan, ReducePlanOf(signature));
  return std::make_unique<LogSumExpKernel>(plan, options.threads);
}

constexpr std::array kKernels = {
    EigenKernel{"ReduceSum", &MakeReduce<SumFold>},
    EigenKernel{"ReduceMean", &MakeReduce<MeanFold>},
    EigenKernel{"ReduceMax", &MakeReduce<MaxFold>},
    EigenKernel{"ReduceMin", &MakeReduce<MinFold>},
    EigenKernel{"ReduceProd", &MakeReduce<ProductFold>},
    EigenKernel{"ReduceL2", &MakeReduce<L2Fold>},
    EigenKernel{"ReduceL1", &MakeReduce<L1Fold>},
    EigenKernel{"ReduceSumSquare", &MakeReduce<SumSquareFold>},
    EigenKernel{"ReduceLogSum", &MakeReduce<LogSumFold>},
    EigenKernel{"ReduceLogSumExp", &MakeLogSumExp},
};

}  // namespace

std::span<const EigenKernel> ReduceEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
