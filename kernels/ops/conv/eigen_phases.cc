#include "kernels/ops/conv/eigen_phases.h"

#include <algorithm>

#include "kernels/ops/conv/eigen_strided_copy.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

AxisPhases::AxisPhases(const ConvAxis& axis) {
  for (int64_t tap = 0; tap < axis.kernel; ++tap) {
    const int64_t ahead = tap * axis.dilation;
    const auto found = std::find(phases.begin(), phases.end(), ahead % axis.stride);
    tap_phases.push_back(static_cast<size_t>(found - phases.begin()));
    if (found == phases.end()) phases.push_back(ahead % axis.stride);
    tap_shifts.push_back(ahead / axis.stride);
    largest_shift = std::max(largest_shift, tap_shifts.back());
  }
}

PhasedInput::PhasedInput(const ConvShape& shape, int64_t lines, int64_t columns)
    : shape_(shape),
      plane_taps_(shape.axes[0]),
      lines_(shape.axes[1]),
      columns_(shape.axes[2]),
      rows_(lines + lines_.largest_shift),
      pitch_(columns + columns_.largest_shift),
      plane_floats_(static_cast<int64_t>(lines_.phases.size() * columns_.phases.size()) * rows_ *
                    pitch_),
      channel_floats_(shape.axes[0].kernel * plane_floats_) {}

std::vector<int64_t> PhasedInput::TapOffsets(int64_t channels) const {
  std::vector<int64_t> offsets;
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t plane = 0; plane < shape_.axes[0].kernel; ++plane) {
      for (size_t y = 0; y < lines_.tap_phases.size(); ++y) {
        for (size_t x = 0; x < columns_.tap_phases.size(); ++x) {
          const auto phase = static_cast<int64_t>(lines_.tap_phases[y] * columns_.phases.size() +
                                                  columns_.tap_phases[x]);
          offsets.push_back(channel * channel_floats_ + plane * plane_floats_ +
                            (phase * rows_ + lines_.tap_shifts[y]) * pitch_ +
                            columns_.tap_shifts[x]);
        }
      }
    }
  }
  return offsets;
}

void PhasedInput::Write(const float* x, const PlaceBlock& block, float* out) const {
  const auto& [depth, height, width] = shape_.axes;
  for (int64_t tap = 0; tap < depth.kernel; ++tap, out += plane_floats_) {
    const int64_t plane = depth.Element(block.plane, tap);
    if (plane < 0 || plane >= depth.extent) {
      std::fill_n(out, plane_floats_, 0.0F);
    } else {
      WritePlane(x + plane * height.extent * width.extent, block, out);
    }
  }
}

void PhasedInput::WritePlane(const float* plane, const PlaceBlock& block, float* out) const {
  const ConvAxis& height = shape_.axes[1];
  for (const int64_t line_phase : lines_.phases) {
    for (const int64_t column_phase : columns_.phases) {
      for (int64_t row = 0; row < rows_; ++row, out += pitch_) {
        const int64_t y = (block.line + row) * height.stride + line_phase - height.pad_begin;
        if (y < 0 || y >= height.extent) {
          std::fill_n(out, pitch_, 0.0F);
        } else {
          WriteLine(plane + y * shape_.axes[2].extent, block.column, column_phase, out);
        }
      }
    }
  }
}

void PhasedInput::WriteLine(const float* line, int64_t first_column, int64_t phase,
                            float* out) const {
  const ConvAxis& width = shape_.axes[2];
  // Element i of the phase is line[first + i * stride].
  const int64_t first = first_column * width.stride + phase - width.pad_begin;
  const int64_t begin =
      first >= 0 ? 0 : std::min(pitch_, (-first + width.stride - 1) / width.stride);
  const int64_t rest = width.extent - first;
  const int64_t end =
      rest <= 0 ? begin : std::clamp((rest + width.stride - 1) / width.stride, begin, pitch_);
  std::fill_n(out, begin, 0.0F);
  if (end > begin)
    CopyStrided(line + first + begin * width.stride, width.stride, end - begin, out + begin);
  std::fill_n(out + end, pitch_ - end, 0.0F);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
