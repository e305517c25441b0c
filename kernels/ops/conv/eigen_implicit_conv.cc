#include <algorithm>

#include "kernels/ops/conv/eigen_conv.h"
#include "kernels/ops/conv/eigen_phases.h"
#include "kernels/ops/matmul/eigen_panels.h"
#include "kernels/ops/packing_kernel.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Sums of a block: a quarter of a megabyte, which stays in a second-level cache with what is read.
constexpr int64_t kBlockFloats = 64 * 1024;
constexpr int64_t kMinPlaces = 128;
constexpr int64_t kMaxPlaces = 1024;
// Products behind a sum that are done at once: their weights stay in a first-level cache.
constexpr int64_t kMaxDepth = 384;
// A cache line, and the alignment of scratch.
constexpr int64_t kLineFloats = 16;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The length of parts of `whole` that are as even as can be and at most `limit`, at least 1, long.
int64_t EvenPart(int64_t whole, int64_t limit) {
  return CeilDiv(whole, std::max<int64_t>(CeilDiv(whole, std::max<int64_t>(limit, 1)), 1));
}

// How the output is cut into units, each done by one thread: image x group x plane x block of lines
// x block of columns x block of channels.
struct Cut {
  Cut(const ConvShape& shape, int threads) {
    const auto& [planes, height, width] = shape.axes;
    channels = std::max<int64_t>(shape.out_group(), 1);
    const int64_t places = std::clamp(kBlockFloats / channels, kMinPlaces, kMaxPlaces);
    columns = EvenPart(width.positions, places);
    const int64_t pitch = columns + AxisPhases(width).largest_shift;
    lines = EvenPart(height.positions, places / pitch);
    const int64_t others = shape.batch * shape.groups * planes.positions;
    const int64_t blocks =
        others * CeilDiv(height.positions, lines) * CeilDiv(width.positions, columns);
    if (blocks % threads != 0 && blocks < 4 * threads) {
      if (others % threads == 0) return;
      if (height.positions >= 4 * threads) {
        const int64_t line_blocks = CeilDiv(CeilDiv(height.positions, lines), threads) * threads;
        lines = CeilDiv(height.positions, line_blocks);
      } else {
        channels = CeilDiv(channels, threads);
      }
    }
  }

  int64_t lines = 1;
  int64_t columns = 1;
  int64_t channels = 1;
};

// Output places of a block and what follows each line of it.
int64_t BlockPlaces(const PhasedInput& input, int64_t lines, int64_t columns) {
  return (lines - 1) * input.line_pitch() + columns;
}

class ConvImplicit final : public PackingKernel {
 public:
  ConvImplicit(const ConvShape& shape, const float* weights, const Epilogue& epilogue, int threads)
      : shape_(shape),
        weights_(weights),
        epilogue_(epilogue),
        depth_(shape.in_group() * shape.tap_count()),
        threads_(ThreadsFor(shape.batch * shape.out_channels * depth_ * shape.position_count() / 16,
                            threads)),
        cut_(shape, threads_),
        input_(shape, cut_.lines, cut_.columns),
        step_channels_(EvenPart(shape.in_group(), kMaxDepth / shape.tap_count())),
        offsets_(input_.TapOffsets(step_channels_)),
        padded_(PaddedColumns(BlockPlaces(input_, cut_.lines, cut_.columns))),
        line_blocks_(CeilDiv(shape.axes[1].positions, cut_.lines)),
        column_blocks_(CeilDiv(shape.axes[2].positions, cut_.columns)),
        channel_blocks_(CeilDiv(shape.out_group(), cut_.channels)) {}

  std::string implementation() const override { return "implicit gemm"; }
  int64_t scratch_bytes() const override {
    return thread_scratch_floats() * threads_ * kFloatBytes;
  }
  int64_t packed_bytes() const override {
    return weights_ == nullptr
               ? 0
               : shape_.groups * channel_blocks_ * packed_block_floats() * kFloatBytes;
  }

  Status Pack(std::span<std::byte> packed) override {
    auto* out = reinterpret_cast<float*>(packed.data());
    packed_ = out;
    for (int64_t group = 0; group < shape_.groups; ++group) {
      for (int64_t block = 0; block < channel_blocks_; ++block) {
        PackWeights(weights_, group, block,
                    out + (group * channel_blocks_ + block) * packed_block_floats());
      }
    }
    return {};
  }

  void Run(const KernelArgs& args) const noexcept override {
    const int64_t units = shape_.batch * shape_.groups * shape_.axes[0].positions * line_blocks_ *
                          column_blocks_ * channel_blocks_;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(units, thread, threads_);
      auto* scratch =
          reinterpret_cast<float*>(args.scratch.data()) + thread * thread_scratch_floats();
      for (int64_t unit = part.begin; unit < part.end; ++unit) RunUnit(args, unit, scratch);
    }
  }

 private:
  static constexpr int64_t kFloatBytes = sizeof(float);

  struct Unit {
    int64_t image_group;
    int64_t group;
    int64_t block;  // of channels
    int64_t channels;
    PlaceBlock places;
    int64_t lines;
    int64_t columns;
  };

  int64_t packed_block_floats() const { return cut_.channels * depth_; }
  int64_t sum_floats() const { return cut_.channels * padded_; }
  int64_t weight_floats() const { return weights_ == nullptr ? packed_block_floats() : 0; }
  // Behind the last channel is what the places that are dropped read.
  int64_t input_floats() const { return step_channels_ * input_.channel_floats() + kPanelColumns; }
  int64_t thread_scratch_floats() const {
    return CeilDiv(sum_floats() + weight_floats() + input_floats(), kLineFloats) * kLineFloats;
  }

  Unit UnitOf(int64_t index) const {
    const auto take = [&index](int64_t count) {
      const int64_t part = index % count;
      index /= count;
      return part;
    };
    Unit unit{};
    unit.block = take(channel_blocks_);
    unit.places.column = take(column_blocks_) * cut_.columns;
    unit.places.line = take(line_blocks_) * cut_.lines;
    unit.places.plane = take(shape_.axes[0].positions);
    unit.image_group = index;
    unit.group = index % shape_.groups;
    unit.channels = ChannelsOf(unit.block);
    unit.lines = std::min(cut_.lines, shape_.axes[1].positions - unit.places.line);
    unit.columns = std::min(cut_.columns, shape_.axes[2].positions - unit.places.column);
    return unit;
  }

  int64_t ChannelsOf(int64_t block) const {
    return std::min(cut_.channels, shape_.out_group() - block * cut_.channels);
  }

  // The weights of a block of channels, step by step.
  void PackWeights(const float* weights, int64_t group, int64_t block, float* out) const {
    const int64_t channels = ChannelsOf(block);
    const float* first = weights + (group * shape_.out_group() + block * cut_.channels) * depth_;
    const int64_t step = step_channels_ * shape_.tap_count();
    for (int64_t k = 0; k < depth_; k += step) {
      PackRows(channels, std::min(step, depth_ - k), {first + k, depth_}, 1, out + k * channels);
    }
  }

  void RunUnit(const KernelArgs& args, int64_t index, float* scratch) const {
    const Unit unit = UnitOf(index);
    float* sums = scratch;
    float* unpacked = sums + sum_floats();
    float* input = unpacked + weight_floats();
    const float* weight_panels = unpacked;
    if (packed_ == nullptr) {
      PackWeights(args.In<float>(1), unit.group, unit.block, unpacked);
    } else {
      weight_panels = packed_ + (unit.group * channel_blocks_ + unit.block) * packed_block_floats();
    }
    FillBias(args, unit, sums);
    const float* x =
        args.In<float>(0) + unit.image_group * shape_.in_group() * shape_.extent_count();
    const int64_t places = PaddedColumns(BlockPlaces(input_, unit.lines, unit.columns));
    for (int64_t first = 0; first < shape_.in_group(); first += step_channels_) {
      const int64_t channels = std::min(step_channels_, shape_.in_group() - first);
      for (int64_t i = 0; i < channels; ++i) {
        input_.Write(x + (first + i) * shape_.extent_count(), unit.places,
                     input + i * input_.channel_floats());
      }
      const GemmSize size{unit.channels, places, channels * shape_.tap_count()};
      MultiplyRows(size, weight_panels + first * shape_.tap_count() * unit.channels, input,
                   offsets_.data(), sums, padded_, Update::kAdd);
    }
    WriteOutput(args, unit, sums);
  }

  void FillBias(const KernelArgs& args, const Unit& unit, float* sums) const {
    const int64_t first = unit.group * shape_.out_group() + unit.block * cut_.channels;
    for (int64_t i = 0; i < unit.channels; ++i) {
      const float bias = args.has_input(2) ? args.In<float>(2)[first + i] : 0.0F;
      std::fill_n(sums + i * padded_, padded_, bias);
    }
  }

  void WriteOutput(const KernelArgs& args, const Unit& unit, const float* sums) const {
    const auto& [planes, height, width] = shape_.axes;
    const int64_t first = unit.block * cut_.channels;
    for (int64_t i = 0; i < unit.channels; ++i) {
      const int64_t plane = (unit.image_group * shape_.out_group() + first + i) * planes.positions +
                            unit.places.plane;
      for (int64_t line = 0; line < unit.lines; ++line) {
        const int64_t begin =
            (plane * height.positions + unit.places.line + line) * width.positions +
            unit.places.column;
        std::copy_n(sums + i * padded_ + line * input_.line_pitch(), unit.columns,
                    args.Out<float>() + begin);
      }
      Finish(args, unit, plane, unit.group * shape_.out_group() + first + i);
    }
  }

  // What a fused node does behind, on the lines of one channel, which are still in the cache.
  void Finish(const KernelArgs& args, const Unit& unit, int64_t plane, int64_t channel) const {
    const auto& [planes, height, width] = shape_.axes;
    if (epilogue_.is_empty()) return;
    const int64_t begin = (plane * height.positions + unit.places.line) * width.positions;
    if (unit.columns == width.positions) {
      return epilogue_.RunOnPlane(args, begin, unit.lines * width.positions, channel);
    }
    for (int64_t line = 0; line < unit.lines; ++line) {
      epilogue_.RunOnPlane(args, begin + line * width.positions + unit.places.column, unit.columns,
                           channel);
    }
  }

  ConvShape shape_;
  const float* weights_;
  const float* packed_ = nullptr;
  Epilogue epilogue_;
  int64_t depth_;  // the products behind an output
  int threads_;
  Cut cut_;
  PhasedInput input_;
  int64_t step_channels_;  // input channels that are done at once
  std::vector<int64_t> offsets_;
  int64_t padded_;  // places of a block
  int64_t line_blocks_;
  int64_t column_blocks_;
  int64_t channel_blocks_;
};

// More than this share of dropped places costs as much as unfolding.
constexpr double kWorthwhileExcess = 1.3;

}  // namespace

bool IsImplicitConvWorthwhile(const ConvShape& shape) {
  // Of a single tap there is nothing to read again.
  if (shape.in_group() == 0 || shape.position_count() == 0 || shape.tap_count() == 1) return false;
  const Cut cut(shape, 1);
  const PhasedInput input(shape, cut.lines, cut.columns);
  const int64_t blocks = shape.axes[0].positions * CeilDiv(shape.axes[1].positions, cut.lines) *
                         CeilDiv(shape.axes[2].positions, cut.columns);
  const auto computed =
      static_cast<double>(blocks * PaddedColumns(BlockPlaces(input, cut.lines, cut.columns)));
  return computed <= kWorthwhileExcess * static_cast<double>(PaddedColumns(shape.position_count()));
}

std::unique_ptr<Kernel> MakeConvImplicit(const ConvShape& shape, const float* weights,
                                         const Epilogue& epilogue, int threads) {
  return std::make_unique<ConvImplicit>(shape, weights, epilogue, threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
