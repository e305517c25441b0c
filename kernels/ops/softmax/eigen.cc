// Softmax and LogSoftmax on Eigen: along contiguous rows, or on many neighbouring rows at once when
// the axis is not the last.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/softmax/eigen_softmax.h"
#include "kernels/ops/softmax/softmax.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Neighbouring rows that are worked on together: four AVX-512 registers of sums.
constexpr int64_t kLanes = 64;
using Lanes = Eigen::Array<float, Eigen::Dynamic, 1, Eigen::ColMajor, kLanes, 1>;

void LogSoftmaxContiguous(const float* x, float* y, int64_t count) {
  const ConstFloatRow in(x, count);
  FloatRow out(y, count);
  out = in - in.maxCoeff();
  out -= std::log(out.exp().sum());
}

// `lanes` softmaxes side by side, each over `count` elements that lie `stride` apart.
template <bool kLog>
void SoftmaxLanes(const float* x, float* y, int64_t count, int64_t stride, int64_t lanes) {
  const auto in = [&](int64_t i) { return ConstFloatRow(x + i * stride, lanes); };
  const auto out = [&](int64_t i) { return FloatRow(y + i * stride, lanes); };
  Lanes largest = in(0);
  for (int64_t i = 1; i < count; ++i) largest = largest.max(in(i));
  Lanes sum = Lanes::Zero(lanes);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kLog) {
      out(i) = in(i)-largest;
      sum += out(i).exp();
    } else {
      out(i) = (in(i)-largest).exp();
      sum += out(i);
    }
  }
  const Lanes last = kLog ? Lanes(sum.log()) : Lanes(sum.inverse());
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kLog) {
      out(i) -= last;
    } else {
      out(i) *= last;
    }
  }
}

template <bool kLog>
class SoftmaxKernel final : public Kernel {
 public:
  SoftmaxKernel(const NodeSignature& signature, const KernelOptions& options)
      : dims_(SoftmaxDimsOf(signature)),
        blocks_((dims_.inner + kLanes - 1) / kLanes),
        threads_(ThreadsFor(signature.output().shape.element_count(), options.threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
    if (dims_.axis == 0) return;
#pragma omp parallel for num_threads(threads_)
    for (int64_t i = 0; i < dims_.outer * blocks_; ++i) {
      const int64_t inner = i % blocks_ * kLanes;
      const int64_t begin = i / blocks_ * dims_.axis * dims_.inner + inner;
      const float* x = args.In<float>(0) + begin;
      float* y = args.Out<float>() + begin;
      if (dims_.inner > 1) {
        SoftmaxLanes<kLog>(x, y, dims_.axis, dims_.inner, std::min(kLanes, dims_.inner - inner));
      } else if (kLog) {
        LogSoftmaxContiguous(x, y, dims_.axis);
      } else {
        SoftmaxContiguous(x, y, dims_.axis);
      }
    }
  }

 private:
  SoftmaxDims dims_;
  int64_t blocks_;
  int threads_;
};

constexpr std::array kKernels = {
    EigenKernel{"Softmax", &MakeFloatKernel<SoftmaxKernel<false>>},
    EigenKernel{"LogSoftmax", &MakeFloatKernel<SoftmaxKernel<true>>},
};

}  // namespace

std::span<const EigenKernel> SoftmaxEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
