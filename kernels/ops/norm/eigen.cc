// The normalizations on Eigen.
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/norm/eigen_channel.h"
#include "kernels/ops/norm/norm.h"
#include "kernels/ops/norm/reference.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// y = x * factor + offset. The factors of a channel are worked out once, when the kernel is made,
// if the statistics are weights; else at the start of each run, into the scratch.
class BatchNormKernel final : public Kernel {
 public:
  BatchNormKernel(const NodeSignature& signature, const KernelOptions& options)
      : dims_(BatchNormDimsOf(signature)),
        epsilon_(signature.Float("epsilon", kDefaultEpsilon)),
        threads_(ThreadsFor(signature.output().shape.element_count(), options.threads)) {
    std::array<const float*, 5> weights{};
    for (size_t i = 1; i < weights.size(); ++i) {
      weights[i] = static_cast<const float*>(signature.inputs[i].data);
      if (weights[i] == nullptr) return;
    }
    folded_.resize(2 * static_cast<size_t>(dims_.channels));
    Fold(weights, folded_.data());
  }
  std::string implementation() const override { return "scale and shift"; }
  int64_t scratch_bytes() const override {
    return folded_.empty() ? 2 * dims_.channels * static_cast<int64_t>(sizeof(float)) : 0;
  }

  void Run(const KernelArgs& args) const noexcept override {
    const float* factors = folded_.data();
    if (folded_.empty()) {
      auto* scratch = reinterpret_cast<float*>(args.scratch.data());
      Fold({nullptr, args.In<float>(1), args.In<float>(2), args.In<float>(3), args.In<float>(4)},
           scratch);
      factors = scratch;
    }
    const int64_t rows = dims_.inner == 1 ? dims_.batch : dims_.batch * dims_.channels;
#pragma omp parallel for num_threads(threads_)
    for (int64_t row = 0; row < rows; ++row) {
      dims_.inner == 1 ? AllChannels(args, factors, row) : OneChannel(args, factors, row);
    }
  }

 private:
  // `to` gets the factors of all channels, then the offsets.
  void Fold(const std::array<const float*, 5>& weights, float* to) const {
    for (int64_t c = 0; c < dims_.channels; ++c) {
      const double factor = weights[1][c] / std::sqrt(double{weights[4][c]} + epsilon_);
      to[c] = static_cast<float>(factor);
      to[dims_.channels + c] = static_cast<float>(weights[2][c] - weights[3][c] * factor);
    }
  }

  void OneChannel(const KernelArgs& args, const float* factors, int64_t row) const {
    const int64_t c = row % dims_.channels;
    const ConstFloatRow x(args.In<float>(0) + row * dims_.inner, dims_.inner);
    FloatRow(args.Out<float>() + row * dims_.inner, dims_.inner) =
        x * factors[c] + factors[dims_.channels + c];
  }

  void AllChannels(const KernelArgs& args, const float* factors, int64_t row) const {
    const ConstFloatRow x(args.In<float>(0) + row * dims_.channels, dims_.channels);
    FloatRow(args.Out<float>() + row * dims_.channels, dims_.channels) =
        x * ConstFloatRow(factors, dims_.channels) +
        ConstFloatRow(factors + dims_.channels, dims_.channels);
  }

  BatchNormDims dims_;
  double epsilon_;
  int threads_;
  std::vector<float> folded_;
};

class LayerNormKernel final : public Kernel {
 public:
  LayerNormKernel(const NodeSignature& signature, const KernelOptions& options)
      : dims_(LayerNormDimsOf(signature)),
        epsilon_(signature.Float("epsilon", kDefaultEpsilon)),
        threads_(ThreadsFor(signature.output().shape.element_count(), options.threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int64_t row = 0; row < dims_.rows; ++row) NormalizeRow(args, row);
  }

 private:
  void NormalizeRow(const KernelArgs& args, int64_t row) const {
    const ConstFloatRow x(args.In<float>(0) + row * dims_.width, dims_.width);
    const ConstFloatRow scale(args.In<float>(1), dims_.width);
    FloatRow y(args.Out<float>() + row * dims_.width, dims_.width);
    const auto width = static_cast<float>(dims_.width);
    const float mean = x.sum() / width;
    const float variance = (x - mean).square().sum() / width;
    const float inverse_deviation = 1.0F / std::sqrt(variance + epsilon_);
    if (args.has_input(2)) {
      y = (x - mean) * inverse_deviation * scale + ConstFloatRow(args.In<float>(2), dims_.width);
    } else {
      y = (x - mean) * inverse_deviation * scale;
    }
    WriteStatistic(args, 1, row, mean);
    WriteStatistic(args, 2, row, inverse_deviation);
  }

  LayerNormDims dims_;
  float epsilon_;
  int threads_;
};

constexpr std::array kKernels = {
    EigenKernel{"BatchNormalization", &MakeFloatKernel<BatchNormKernel>},
    EigenKernel{"LayerNormalization", &MakeFloatKernel<LayerNormKernel>},
    EigenKernel{"InstanceNormalization", &MakeInstanceNorm},
    EigenKernel{"LRN", &MakeLrn},
};

}  // namespace

std::span<const EigenKernel> NormEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
