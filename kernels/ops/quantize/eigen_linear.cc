#include "kernels/ops/quantize/eigen_linear.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "kernels/ops/partition.h"
#include "kernels/ops/quantize/eigen_quantize_row.h"
#include "kernels/ops/quantize/linear.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

using KernelResult = Result<std::unique_ptr<Kernel>>;

// Elements of a row that share what belongs to them.
struct Row {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t channel = 0;  // of the first
  bool one_channel = true;
};

// Calls `run` with each row of the thread's part: elements of one channel, or where channels are
// the innermost dimension one of each.
template <class Run>
void ForEachRow(const ChannelLayout& layout, int threads, const Run& run) {
  const bool innermost = layout.inner == 1 && layout.channels > 1;
  const int64_t length = innermost ? layout.channels : layout.inner;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int thread = 0; thread < threads; ++thread) {
    const Partition part = PartOf(layout.count, thread, threads);
    for (int64_t begin = part.begin; begin < part.end;) {
      const int64_t end = std::min(part.end, (begin / length + 1) * length);
      run(Row{begin, end, layout.channel_of(begin), !innermost});
      begin = end;
    }
  }
}

template <class Q>
class Quantize final : public Kernel {
 public:
  Quantize(const ChannelLayout& layout, int threads)
      : layout_(layout), threads_(ThreadsFor(layout.count, threads)) {}
  std::string implementation() const override { return "vectorized"; }
  void Run(const KernelArgs& args) const noexcept override {
    const auto* x = args.In<float>(0);
    const auto* scales = args.In<float>(1);
    const Q* zeros = args.has_input(2) ? args.In<Q>(2) : nullptr;
    Q* out = args.Out<Q>();
    ForEachRow(layout_, threads_, [&](const Row& row) {
      if (row.one_channel) {
        const float scale = scales[row.channel];
        const int32_t zero = zeros == nullptr ? 0 : zeros[row.channel];
        for (int64_t i = row.begin; i < row.end; ++i) out[i] = Rounded<Q>(x[i] / scale, zero);
      } else {
        const float* scale = scales + row.channel - row.begin;
        const Q* zero = zeros == nullptr ? nullptr : zeros + row.channel - row.begin;
        for (int64_t i = row.begin; i < row.end; ++i) {
          out[i] = Rounded<Q>(x[i] / scale[i], zero == nullptr ? 0 : zero[i]);
        }
      }
    });
  }

 private:
  ChannelLayout layout_;
  int threads_;
};

template <class Q>
class Dequantize final : public Kernel {
 public:
  Dequantize(const ChannelLayout& layout, int threads)
      : layout_(layout), threads_(ThreadsFor(layout.count, threads)) {}
  std::string implementation() const override { return "vectorized"; }
  void Run(const KernelArgs& args) const noexcept override {
    // The difference of two bytes fits in 32 bits, that of two int32 does not.
    using Wide = std::conditional_t<sizeof(Q) == 1, int32_t, int64_t>;
    const Q* x = args.In<Q>(0);
    const auto* scales = args.In<float>(1);
    const Q* zeros = args.has_input(2) ? args.In<Q>(2) : nullptr;
    float* out = args.Out<float>();
    ForEachRow(layout_, threads_, [&](const Row& row) {
      if (row.one_channel) {
        const float scale = scales[row.channel];
        const Wide zero = zeros == nullptr ? 0 : zeros[row.channel];
        for (int64_t i = row.begin; i < row.end; ++i) {
          out[i] = static_cast<float>(Wide{x[i]} - zero) * scale;
        }
      } else {
        const float* scale = scales + row.channel - row.begin;
        const Q* zero = zeros == nullptr ? nullptr : zeros + row.channel - row.begin;
        for (int64_t i = row.begin; i < row.end; ++i) {
          out[i] = static_cast<float>(Wide{x[i]} - (zero == nullptr ? 0 : zero[i])) * scale[i];
        }
      }
    });
  }

 private:
  ChannelLayout layout_;
  int threads_;
};

// The least and the greatest of 0 and some numbers, NaN left out.
struct alignas(64) Range {
  float low = 0;
  float high = 0;
};

// By lanes, so that the compiler may take many numbers at once.
Range RangeOf(const float* x, int64_t count) {
  constexpr int64_t kLanes = 64;
  std::array<float, kLanes> low{};
  std::array<float, kLanes> high{};
  const auto widen = [&](const float* from, int64_t lanes) {
    for (int64_t i = 0; i < lanes; ++i) {
      const auto lane = static_cast<size_t>(i);
      low[lane] = from[i] < low[lane] ? from[i] : low[lane];
      high[lane] = from[i] > high[lane] ? from[i] : high[lane];
    }
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) widen(x + i, kLanes);
  widen(x + i, count - i);
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

class DynamicQuantize final : public Kernel {
 public:
  DynamicQuantize(int64_t count, int threads)
      : count_(count), threads_(ThreadsFor(count, threads)) {}
  std::string implementation() const override { return "vectorized"; }
  int64_t scratch_bytes() const override { return threads_ * int64_t{sizeof(Range)}; }
  void Run(const KernelArgs& args) const noexcept override {
    const auto* x = args.In<float>(0);
    const Range range = WholeRange(x, reinterpret_cast<Range*>(args.scratch.data()));
    constexpr float kSteps = 255;
    const float scale = range.high > range.low ? (range.high - range.low) / kSteps : 1.0F;
    const auto zero = Rounded<uint8_t>((0 - range.low) / scale, 0);
    auto* out = args.Out<uint8_t>();
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(count_, thread, threads_);
      for (int64_t i = part.begin; i < part.end; ++i) out[i] = Rounded<uint8_t>(x[i] / scale, zero);
    }
    *args.Out<float>(1) = scale;
    *args.Out<uint8_t>(2) = zero;
  }

 private:
  Range WholeRange(const float* x, Range* parts) const {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(count_, thread, threads_);
      parts[thread] = RangeOf(x + part.begin, part.end - part.begin);
    }
    Range whole;
    for (int thread = 0; thread < threads_; ++thread) {
      whole.low = std::min(whole.low, parts[thread].low);
      whole.high = std::max(whole.high, parts[thread].high);
    }
    return whole;
  }

  int64_t count_;
  int threads_;
};

tl::unexpected<Error> NoKernel() {
  return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
              "the vectorized quantization is for float32, int8, uint8 and int32");
}

}  // namespace

KernelResult MakeQuantize(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const ChannelLayout layout, ChannelLayoutOf(signature));
  switch (signature.output().dtype) {
    case DType::kInt8:
      return std::make_unique<Quantize<int8_t>>(layout, options.threads);
    case DType::kUInt8:
      return std::make_unique<Quantize<uint8_t>>(layout, options.threads);
    default:
      return NoKernel();
  }
}

KernelResult MakeDequantize(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const ChannelLayout layout, ChannelLayoutOf(signature));
  switch (signature.input(0).dtype) {
    case DType::kInt8:
      return std::make_unique<Dequantize<int8_t>>(layout, options.threads);
    case DType::kUInt8:
      return std::make_unique<Dequantize<uint8_t>>(layout, options.threads);
    case DType::kInt32:
      return std::make_unique<Dequantize<int32_t>>(layout, options.threads);
    default:
      return NoKernel();
  }
}

KernelResult MakeDynamicQuantize(const NodeSignature& signature, const KernelOptions& options) {
  if (signature.output().dtype != DType::kUInt8) return NoKernel();
  return std::make_unique<DynamicQuantize>(signature.input(0).shape.element_count(),
                                           options.threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
