#include "kernels/ops/elementwise/eigen_unary.h"

#include <Eigen/Core>
#include <array>
#include <numbers>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/elementwise/reference.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// y = Function(x) over runs of floats, shared among threads.
template <class Function>
class UnaryKernel final : public Kernel {
 public:
  UnaryKernel(const NodeSignature& signature, const KernelOptions& options)
      : coefficients_(CoefficientsOf<typename Function::Scalar>(signature)),
        count_(signature.output().shape.element_count()),
        threads_(ThreadsFor(count_, options.threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(count_, part, threads_);
      const int64_t length = range.end - range.begin;
      const ConstFloatRow x(args.In<float>(0) + range.begin, length);
      FloatRow(args.Out<float>() + range.begin, length) = Function::Apply(x, coefficients_);
    }
  }

 private:
  Coefficients coefficients_;
  int64_t count_;
  int threads_;
};

// Each struct names the scalar operator it stands for and gives an Eigen expression of x.
#define TINYPROF_EIGEN_UNARY(Struct, Of, expression)                 \
  struct Struct {                                                    \
    using Scalar = Of;                                               \
    template <class X>                                               \
    static auto Apply(const X& x, [[maybe_unused]] Coefficients c) { \
      return expression;                                             \
    }                                                                \
  }
TINYPROF_EIGEN_UNARY(ReluRow, Relu, x.max(0.0F));
TINYPROF_EIGEN_UNARY(EluRow, Elu, x.max(0.0F) + c.alpha * (x.min(0.0F).exp() - 1.0F));
TINYPROF_EIGEN_UNARY(SigmoidRow, Sigmoid, (1.0F + (-x).exp()).inverse());
TINYPROF_EIGEN_UNARY(HardSigmoidRow, HardSigmoid, (c.alpha * x + c.beta).min(1.0F).max(0.0F));
TINYPROF_EIGEN_UNARY(HardSwishRow, HardSwish, x*(x*(1.0F / 6) + 0.5F).min(1.0F).max(0.0F));
TINYPROF_EIGEN_UNARY(TanhRow, Tanh, x.tanh());
TINYPROF_EIGEN_UNARY(GeluErfRow, GeluErf,
                     0.5F * x * (1.0F + (x * (1 / std::numbers::sqrt2_v<float>)).erf()));
TINYPROF_EIGEN_UNARY(
    GeluTanhRow, GeluTanh,
    0.5F * x * (1.0F + (static_cast<float>(GeluTanh::kScale) * (x + 0.044715F * x.cube())).tanh()));
TINYPROF_EIGEN_UNARY(SoftplusRow, Softplus, x.max(0.0F) + (1.0F + (-x.abs()).exp()).log());
TINYPROF_EIGEN_UNARY(SwishRow, Swish, x*(1.0F + (-x).exp()).inverse());
TINYPROF_EIGEN_UNARY(ExpRow, Exp, x.exp());
TINYPROF_EIGEN_UNARY(LogRow, Log, x.log());
TINYPROF_EIGEN_UNARY(SqrtRow, Sqrt, x.sqrt());
TINYPROF_EIGEN_UNARY(ReciprocalRow, Reciprocal, x.inverse());
TINYPROF_EIGEN_UNARY(ErfRow, Erf, x.erf());
TINYPROF_EIGEN_UNARY(NegRow, Neg, -x);
TINYPROF_EIGEN_UNARY(AbsRow, Abs, x.abs());
TINYPROF_EIGEN_UNARY(FloorRow, Floor, x.floor());
TINYPROF_EIGEN_UNARY(CeilRow, Ceil, x.ceil());
TINYPROF_EIGEN_UNARY(RoundRow, Round, x.rint());
TINYPROF_EIGEN_UNARY(SinRow, Sin, x.sin());
TINYPROF_EIGEN_UNARY(CosRow, Cos, x.cos());
TINYPROF_EIGEN_UNARY(SoftsignRow, Softsign, x / (1.0F + x.abs()));
TINYPROF_EIGEN_UNARY(CeluRow, Celu,
                     x.max(0.0F) + (c.alpha * ((x / c.alpha).exp() - 1.0F)).min(0.0F));
TINYPROF_EIGEN_UNARY(SeluRow, Selu, c.beta*(x.max(0.0F) + c.alpha * (x.min(0.0F).exp() - 1.0F)));
#undef TINYPROF_EIGEN_UNARY

// Eigen does not vectorize a choice; the compiler does. For the rest there are no vectors.
template <class Op>
struct LoopRow {
  using Scalar = Op;
  template <class X>
  static auto Apply(const X& x, Coefficients c) {
    return x.unaryExpr([c](float value) { return Op::Apply(value, c); });
  }
};

Result<std::unique_ptr<Kernel>> MakeGelu(const NodeSignature& signature,
                                         const KernelOptions& options) {
  return UsesTanh(signature) ? MakeFloatKernel<UnaryKernel<GeluTanhRow>>(signature, options)
                             : MakeFloatKernel<UnaryKernel<GeluErfRow>>(signature, options);
}

// Clip to bounds that are operands or attributes; a bound that is not given is infinite.
class ClipKernel final : public Kernel {
 public:
  ClipKernel(const NodeSignature& signature, const KernelOptions& options)
      : low_(signature.Float("min", -std::numeric_limits<float>::infinity())),
        high_(signature.Float("max", std::numeric_limits<float>::infinity())),
        has_low_(signature.has_input(1) || signature.has_attribute("min")),
        has_high_(signature.has_input(2) || signature.has_attribute("max")),
        count_(signature.output().shape.element_count()),
        threads_(ThreadsFor(count_, options.threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
    const float low = args.has_input(1) ? *args.In<float>(1) : low_;
    const float high = args.has_input(2) ? *args.In<float>(2) : high_;
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(count_, part, threads_);
      const int64_t length = range.end - range.begin;
      const ConstFloatRow x(args.In<float>(0) + range.begin, length);
      FloatRow y(args.Out<float>() + range.begin, length);
      if (has_low_ && has_high_) {
        y = x.max(low).min(high);
      } else if (has_low_) {
        y = x.max(low);
      } else if (has_high_) {
        y = x.min(high);
      } else {
        y = x;
      }
    }
  }

 private:
  float low_;
  float high_;
  bool has_low_;
  bool has_high_;
  int64_t count_;
  int threads_;
};

template <class Row>
constexpr EigenKernel Entry() {
  return {Row::Scalar::kType, &MakeFloatKernel<UnaryKernel<Row>>};
}

constexpr std::array kKernels = {
    Entry<ReluRow>(),
    Entry<LoopRow<LeakyRelu>>(),
    Entry<EluRow>(),
    Entry<SigmoidRow>(),
    Entry<HardSigmoidRow>(),
    Entry<HardSwishRow>(),
    Entry<TanhRow>(),
    Entry<SoftplusRow>(),
    Entry<SwishRow>(),
    Entry<ExpRow>(),
    Entry<LogRow>(),
    Entry<SqrtRow>(),
    Entry<ReciprocalRow>(),
    Entry<ErfRow>(),
    Entry<NegRow>(),
    Entry<AbsRow>(),
    Entry<FloorRow>(),
    Entry<CeilRow>(),
    Entry<RoundRow>(),
    Entry<LoopRow<Sign>>(),
    Entry<SinRow>(),
    Entry<CosRow>(),
    Entry<SoftsignRow>(),
    Entry<CeluRow>(),
    Entry<SeluRow>(),
    Entry<LoopRow<ThresholdedRelu>>(),
    Entry<LoopRow<Shrink>>(),
    Entry<LoopRow<Tan>>(),
    Entry<LoopRow<Asin>>(),
    Entry<LoopRow<Acos>>(),
    Entry<LoopRow<Atan>>(),
    Entry<LoopRow<Sinh>>(),
    Entry<LoopRow<Cosh>>(),
    Entry<LoopRow<Asinh>>(),
    Entry<LoopRow<Acosh>>(),
    Entry<LoopRow<Atanh>>(),
    EigenKernel{"Gelu", &MakeGelu},
    EigenKernel{"Clip", &MakeFloatKernel<ClipKernel>},
};

struct ClipRow {
  template <class X>
  static auto Apply(const X& x, Coefficients c) {
    return x.max(c.alpha).min(c.beta);
  }
};

template <class Row>
void ApplyInPlace(float* values, int64_t count, Coefficients coefficients) {
  FloatRow(values, count) = Row::Apply(ConstFloatRow(values, count), coefficients);
}

struct NamedRow {
  std::string_view activation;
  RowFunction function;
};
constexpr std::array kRows = {
    NamedRow{"Relu", ApplyInPlace<ReluRow>},
    NamedRow{"LeakyRelu", ApplyInPlace<LoopRow<LeakyRelu>>},
    NamedRow{"Elu", ApplyInPlace<EluRow>},
    NamedRow{"Clip", ApplyInPlace<ClipRow>},
    NamedRow{"Sigmoid", ApplyInPlace<SigmoidRow>},
    NamedRow{"HardSigmoid", ApplyInPlace<HardSigmoidRow>},
    NamedRow{"HardSwish", ApplyInPlace<HardSwishRow>},
    NamedRow{"Tanh", ApplyInPlace<TanhRow>},
    NamedRow{"Gelu", ApplyInPlace<GeluErfRow>},
    NamedRow{"GeluTanh", ApplyInPlace<GeluTanhRow>},
    NamedRow{"Swish", ApplyInPlace<SwishRow>},
    NamedRow{"Softplus", ApplyInPlace<SoftplusRow>},
};

}  // namespace

std::span<const EigenKernel> UnaryEigenKernels() { return kKernels; }

RowFunction FindRowFunction(std::string_view activation) {
  for (const NamedRow& row : kRows) {
    if (row.activation == activation) return row.function;
  }
  return nullptr;
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
