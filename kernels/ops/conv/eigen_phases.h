// The input of a convolution arranged so that every tap of it is read without a gap.
//
// A tap of stride s reads every s-th element: the padded input is split into its s phases along
// each axis, so that tap t of places p, p + 1, ... reads consecutive elements of one phase, `shift`
// behind the places. Lines of places are as far apart as those of the phases: the places between
// two lines of output (as many as the largest shift) are computed and dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/conv/conv_shape.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// One axis: tap t reads phase `tap_phases[t]` of `phases`, which are those that taps meet.
struct AxisPhases {
  explicit AxisPhases(const ConvAxis& axis);

  std::vector<int64_t> phases;      // each the first padded element of it, below the stride
  std::vector<size_t> tap_phases;   // index into `phases` by tap
  std::vector<int64_t> tap_shifts;  // places by which the tap is ahead
  int64_t largest_shift = 0;
};

// A block of output places of one plane (the last two axes).
struct PlaceBlock {
  int64_t plane = 0;  // of the first axis
  int64_t line = 0;
  int64_t column = 0;
};

class PhasedInput {
 public:
  // For blocks of at most `lines` x `columns` places.
  PhasedInput(const ConvShape& shape, int64_t lines, int64_t columns);

  // Places of a block as they are computed: `line_pitch` from a line to the next.
  int64_t line_pitch() const { return pitch_; }
  // Floats that a channel takes.
  int64_t channel_floats() const { return channel_floats_; }
  // Where the rows of taps of `channels` channels begin, in the order of the weights.
  std::vector<int64_t> TapOffsets(int64_t channels) const;
  // Writes one channel, whose input is `x`, for the block that begins at `block`.
  void Write(const float* x, const PlaceBlock& block, float* out) const;

 private:
  void WritePlane(const float* plane, const PlaceBlock& block, float* out) const;
  void WriteLine(const float* line, int64_t first_column, int64_t phase, float* out) const;

  ConvShape shape_;
  AxisPhases plane_taps_;
  AxisPhases lines_;
  AxisPhases columns_;
  int64_t rows_;
  int64_t pitch_;
  int64_t plane_floats_;
  int64_t channel_floats_;
};

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
