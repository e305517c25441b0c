#include "kernels/ops/quantize/eigen_int_depthwise.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>

#include "kernels/base/checked_math.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/quantize/eigen_int_epilogue.h"
#include "kernels/ops/quantize/eigen_int_gemm.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

using FloatPacket = Eigen::internal::packet_traits<float>::type;
constexpr int64_t kPacket = Eigen::internal::packet_traits<float>::size;

// Columns of one line that are summed in registers.
constexpr int64_t kBlockPackets = 4;
constexpr int64_t kBlock = kBlockPackets * kPacket;
constexpr int64_t kLineElements = 16;  // a cache line

// Sums of products of two differences of bytes, at most 255 each, are integers below 2^24, which
// floats hold exactly in whatever order they are summed.
constexpr int64_t kMaxTaps = (int64_t{1} << 24) / (255 * 255);
// Wide pads and dilations make a padded plane much larger than what it is made of.
constexpr int64_t kMaxPadded = int64_t{1} << 20;

int64_t Aligned(int64_t elements) {
  return (elements + kLineElements - 1) / kLineElements * kLineElements;
}

// What the places along an axis see, with pads.
int64_t PaddedLength(const ConvAxis& axis) {
  return axis.positions == 0
             ? 0
             : (axis.positions - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

// Elements of a line that are `stride` apart lie together, so that a tap of neighbouring places
// reads neighbours.
int64_t PhaseLength(const ConvAxis& width) {
  return (PaddedLength(width) + width.stride - 1) / width.stride;
}

template <class Q>
void WidenRun(int64_t count, const Q* __restrict from, int64_t stride, int32_t zero,
              float* __restrict to) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i] - zero);
  } else if (stride == 2) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[2 * i] - zero);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[stride * i] - zero);
  }
}

class IntDepthwise final : public Kernel {
 public:
  IntDepthwise(const NodeSignature& signature, const ProductRoles& roles, const ConvShape& shape,
               int threads)
      : roles_(roles),
        shape_(shape),
        padded_height_(PaddedLength(shape.axes[1])),
        phase_length_(PhaseLength(shape.axes[2])),
        line_length_(phase_length_ * shape.axes[2].stride),
        epilogue_(signature, roles, IntEpilogue::Channels::kAreRows),
        threads_(ThreadsFor(
            shape.batch * shape.out_channels * shape.tap_count() * shape.position_count() / 4,
            threads)) {
    const auto& [depth, height, width] = shape.axes;
    for (int64_t i = 0; i < depth.kernel; ++i) {
      for (int64_t j = 0; j < height.kernel; ++j) {
        for (int64_t k = 0; k < width.kernel; ++k) {
          const int64_t line = i * depth.dilation * padded_height_ + j * height.dilation;
          const int64_t column = k * width.dilation;
          offsets_[static_cast<size_t>(tap_count_++)] =
              line * line_length_ + column % width.stride * phase_length_ + column / width.stride;
        }
      }
    }
  }

  std::string implementation() const override { return "exact float depthwise"; }
  int64_t scratch_bytes() const override {
    return (padded_elements() + sum_elements()) * int64_t{sizeof(float)} * threads_;
  }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      auto* padded = reinterpret_cast<float*>(args.scratch.data()) +
                     thread * (padded_elements() + sum_elements());
      auto* sums = reinterpret_cast<int32_t*>(padded + padded_elements());
      const Partition part = PartOf(shape_.batch * shape_.out_channels, thread, threads_);
      for (int64_t plane = part.begin; plane < part.end; ++plane) {
        RunPlane(args, plane, padded, sums);
      }
    }
  }

 private:
  // The last block of a line reads and writes up to kBlock elements too many.
  int64_t padded_elements() const {
    return Aligned(PaddedLength(shape_.axes[0]) * padded_height_ * line_length_ + kBlock);
  }
  int64_t sum_elements() const { return Aligned(shape_.position_count() + kBlock); }

  void RunPlane(const KernelArgs& args, int64_t plane, float* padded, int32_t* sums) const {
    const int64_t channel = plane % shape_.out_channels;
    const int64_t input_plane =
        plane / shape_.out_channels * shape_.in_channels + channel / shape_.out_group();
    const int16_t zero = ZeroPoints(args, roles_.x_zero).at(0);
    WithByteType(args.inputs[roles_.x].type.dtype, [&](const auto* type) {
      const auto* x = static_cast<decltype(type)>(args.inputs[roles_.x].data);
      PadPlane(x + input_plane * shape_.extent_count(), zero, padded);
    });
    std::array<float, kMaxTaps> weights;
    const int16_t weight_zero = ZeroPoints(args, roles_.w_zero).at(channel);
    WithByteType(args.inputs[roles_.w].type.dtype, [&](const auto* type) {
      const auto* w = static_cast<decltype(type)>(args.inputs[roles_.w].data);
      WidenRun(tap_count_, w + channel * tap_count_, 1, weight_zero, weights.data());
    });
    SumPlane(padded, weights.data(), sums);
    const int64_t places = shape_.position_count();
    for (int64_t place = 0; place < places; place += kIntPanelColumns) {
      epilogue_.Run(args, sums + place,
                    {.rows = 1,
                     .columns = std::min(kIntPanelColumns, places - place),
                     .channel = channel,
                     .begin = plane * places + place,
                     .stride = places});
    }
  }

  template <class Q>
  void PadPlane(const Q* x, int32_t zero, float* padded) const {
    const auto& [depth, height, width] = shape_.axes;
    const int64_t padded_depth = PaddedLength(depth);
    for (int64_t z = 0; z < padded_depth; ++z) {
      for (int64_t y = 0; y < padded_height_; ++y, padded += line_length_) {
        const int64_t from_z = z - depth.pad_begin;
        const int64_t from_y = y - height.pad_begin;
        if (from_z < 0 || from_z >= depth.extent || from_y < 0 || from_y >= height.extent) {
          std::fill_n(padded, line_length_, 0.0F);
        } else {
          PadLine(x + (from_z * height.extent + from_y) * width.extent, zero, padded);
        }
      }
    }
    std::fill_n(padded, kBlock, 0.0F);
  }

  template <class Q>
  void PadLine(const Q* line, int32_t zero, float* padded) const {
    const ConvAxis& width = shape_.axes[2];
    for (int64_t phase = 0; phase < width.stride; ++phase, padded += phase_length_) {
      // Element i of the phase is element i * stride + phase - pad_begin of the line.
      const int64_t first = phase - width.pad_begin;
      const int64_t begin = std::min(
          first >= 0 ? int64_t{0} : (-first + width.stride - 1) / width.stride, phase_length_);
      const int64_t inside = width.extent - first;
      const int64_t end = std::clamp(inside <= 0 ? int64_t{0} : (inside - 1) / width.stride + 1,
                                     begin, phase_length_);
      std::fill_n(padded, begin, 0.0F);
      if (end > begin) {
        WidenRun(end - begin, line + begin * width.stride + first, width.stride, zero,
                 padded + begin);
      }
      std::fill(padded + end, padded + phase_length_, 0.0F);
    }
  }

  // The sums of all places one after the other: what a line writes beyond its end is overwritten
  // by the next.
  void SumPlane(const float* padded, const float* weights, int32_t* sums) const {
    const auto& [depth, height, width] = shape_.axes;
    for (int64_t z = 0; z < depth.positions; ++z) {
      for (int64_t y = 0; y < height.positions; ++y, sums += width.positions) {
        const float* line =
            padded + (z * depth.stride * padded_height_ + y * height.stride) * line_length_;
        SumLine(line, weights, sums);
      }
    }
  }

  void SumLine(const float* line, const float* weights, int32_t* sums) const {
    const int64_t places = shape_.axes[2].positions;
    for (int64_t place = 0; place < places; place += kBlock) {
      const int64_t packets = (std::min(places - place, kBlock) + kPacket - 1) / kPacket;
      if (packets == 1) SumBlock<1>(line + place, weights, sums + place);
      if (packets == 2) SumBlock<2>(line + place, weights, sums + place);
      if (packets == 3) SumBlock<3>(line + place, weights, sums + place);
      if (packets == 4) SumBlock<4>(line + place, weights, sums + place);
    }
  }

  template <size_t packets>
  void SumBlock(const float* line, const float* weights, int32_t* sums) const {
    using Eigen::internal::ploadu;
    using Eigen::internal::pmadd;
    using Eigen::internal::pset1;
    using Eigen::internal::pstore;
    std::array<FloatPacket, packets> sum;
    sum.fill(pset1<FloatPacket>(0.0F));
    for (int64_t tap = 0; tap < tap_count_; ++tap) {
      const FloatPacket weight = pset1<FloatPacket>(weights[tap]);
      const float* from = line + offsets_[static_cast<size_t>(tap)];
      for (size_t i = 0; i < packets; ++i) {
        sum[i] = pmadd(weight, ploadu<FloatPacket>(from + i * kPacket), sum[i]);
      }
    }
    alignas(64) std::array<float, packets * kPacket> floats;
    for (size_t i = 0; i < packets; ++i) pstore(floats.data() + i * kPacket, sum[i]);
    for (size_t i = 0; i < floats.size(); ++i) sums[i] = static_cast<int32_t>(floats[i]);
  }

  ProductRoles roles_;
  ConvShape shape_;
  int64_t padded_height_;
  int64_t phase_length_;
  int64_t line_length_;
  IntEpilogue epilogue_;
  int threads_;
  int64_t tap_count_ = 0;
  std::array<int64_t, kMaxTaps> offsets_{};  // of the taps in a padded plane
};

}  // namespace

bool IsIntDepthwise(const ConvShape& shape) {
  if (shape.in_group() != 1 || shape.tap_count() > kMaxTaps) return false;
  const auto& [depth, height, width] = shape.axes;
  const Result<int64_t> padded =
      CheckedProduct({PaddedLength(depth), PaddedLength(height), PhaseLength(width), width.stride});
  return padded && *padded <= kMaxPadded;
}

std::unique_ptr<Kernel> MakeIntDepthwise(const NodeSignature& signature, const ProductRoles& roles,
                                         const ConvShape& shape, int threads) {
  return std::make_unique<IntDepthwise>(signature, roles, shape, threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
