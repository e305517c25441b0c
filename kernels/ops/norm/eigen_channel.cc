#include "kernels/ops/norm/eigen_channel.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/norm/channel_norm.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

class InstanceNorm final : public Kernel {
 public:
  InstanceNorm(const NodeSignature& signature, const KernelOptions& options)
      : dims_(BatchNormDimsOf(signature)),
        epsilon_(signature.Float("epsilon", kDefaultEpsilon)),
        threads_(ThreadsFor(signature.output().shape.element_count(), options.threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
    const int64_t planes = dims_.inner == 0 ? 0 : dims_.batch * dims_.channels;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int64_t plane = 0; plane < planes; ++plane) {
      const int64_t channel = plane % dims_.channels;
      const ConstFloatRow x(args.In<float>(0) + plane * dims_.inner, dims_.inner);
      const auto width = static_cast<float>(dims_.inner);
      const float mean = x.sum() / width;
      const float variance = (x - mean).square().sum() / width;
      const float factor = args.In<float>(1)[channel] / std::sqrt(variance + epsilon_);
      FloatRow(args.Out<float>() + plane * dims_.inner, dims_.inner) =
          (x - mean) * factor + args.In<float>(2)[channel];
    }
  }

 private:
  BatchNormDims dims_;
  float epsilon_;
  int threads_;
};

// A tile of places at a time, all channels of it, so that the squares of a window come from the
// cache.
class Lrn final : public Kernel {
 public:
  Lrn(const NodeSignature& signature, const KernelOptions& options)
      : dims_(BatchNormDimsOf(signature)),
        size_(signature.Int("size", 1)),
        alpha_(static_cast<float>(static_cast<double>(signature.Float("alpha", 1e-4F)) /
                                  static_cast<double>(size_))),
        beta_(signature.Float("beta", 0.75F)),
        bias_(signature.Float("bias", 1)),
        tiles_((dims_.inner + kTilePlaces - 1) / kTilePlaces),
        threads_(ThreadsFor(signature.output().shape.element_count(), options.threads)) {}
  std::string implementation() const override { return "vectorized"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int64_t unit = 0; unit < dims_.batch * tiles_; ++unit) {
      const int64_t first = unit % tiles_ * kTilePlaces;
      const int64_t image = unit / tiles_ * dims_.channels * dims_.inner;
      for (int64_t channel = 0; channel < dims_.channels; ++channel) {
        RunRow(args.In<float>(0) + image + first, channel,
               std::min(kTilePlaces, dims_.inner - first), args.Out<float>() + image + first);
      }
    }
  }

 private:
  static constexpr int64_t kTilePlaces = 512;

  void RunRow(const float* x, int64_t channel, int64_t count, float* out) const {
    const LrnWindow window = LrnWindowOf(channel, size_, dims_.channels);
    FloatRow y(out + channel * dims_.inner, count);
    y = ConstFloatRow(x + window.begin * dims_.inner, count).square();
    for (int64_t k = window.begin + 1; k < window.end; ++k) {
      y += ConstFloatRow(x + k * dims_.inner, count).square();
    }
    const ConstFloatRow own(x + channel * dims_.inner, count);
    constexpr float kUsualBeta = 0.75F;
    if (beta_ == kUsualBeta) {
      y = bias_ + alpha_ * y;
      y = own / (y.sqrt() * y.sqrt().sqrt());
    } else {
      y = own / Eigen::pow(bias_ + alpha_ * y, beta_);
    }
  }

  BatchNormDims dims_;
  int64_t size_;
  float alpha_;
  float beta_;
  float bias_;
  int64_t tiles_;
  int threads_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeInstanceNorm(const NodeSignature& signature,
                                                 const KernelOptions& options) {
  return MakeFloatKernel<InstanceNorm>(signature, options);
}

Result<std::unique_ptr<Kernel>> MakeLrn(const NodeSignature& signature,
                                        const KernelOptions& options) {
  // Rows of fewer places are not worth the calls.
  constexpr int64_t kMinPlaces = 4;
  if (BatchNormDimsOf(signature).inner < kMinPlaces) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                "the Eigen backend has LRN for images of some size only");
  }
  return MakeFloatKernel<Lrn>(signature, options);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
