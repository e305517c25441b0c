// The naive loops of Conv and ConvTranspose. Taps that fall on padding are skipped.
#pragma once

#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/reference_kernel.h"

namespace tinyprof {

// Calls `visit(tap, element)` for each tap of the kernel at `place` that meets an element, with the
// flat indices of both.
template <class Visit>
void VisitTaps(const ConvShape& shape, const std::array<int64_t, 3>& place, const Visit& visit) {
  const auto& [depth, height, width] = shape.axes;
  int64_t tap = 0;
  for (int64_t i = 0; i < depth.kernel; ++i) {
    const int64_t z = depth.Element(place[0], i);
    for (int64_t j = 0; j < height.kernel; ++j) {
      const int64_t y = height.Element(place[1], j);
      for (int64_t k = 0; k < width.kernel; ++k, ++tap) {
        const int64_t x = width.Element(place[2], k);
        const bool inside =
            z >= 0 && z < depth.extent && y >= 0 && y < height.extent && x >= 0 && x < width.extent;
        if (inside) visit(tap, (z * height.extent + y) * width.extent + x);
      }
    }
  }
}

// Calls `visit(position, place)` for each place of the kernel: its flat index and its coordinates.
template <class Visit>
void VisitPlaces(const ConvShape& shape, const Visit& visit) {
  int64_t position = 0;
  for (int64_t z = 0; z < shape.axes[0].positions; ++z) {
    for (int64_t y = 0; y < shape.axes[1].positions; ++y) {
      for (int64_t x = 0; x < shape.axes[2].positions; ++x) {
        visit(position++, std::array<int64_t, 3>{z, y, x});
      }
    }
  }
}

template <class T>
void ConvReference(const NodeSignature& signature, const KernelArgs& args) {
  const ConvShape shape = *ConvShapeOf(signature);
  T* out = args.Out<T>();
  for (int64_t plane = 0; plane < shape.batch * shape.out_channels; ++plane) {
    const int64_t channel = plane % shape.out_channels;
    const int64_t group = channel / shape.out_group();
    const int64_t first_input =
        plane / shape.out_channels * shape.in_channels + group * shape.in_group();
    VisitPlaces(shape, [&](int64_t position, const std::array<int64_t, 3>& place) {
      T sum(0);
      for (int64_t i = 0; i < shape.in_group(); ++i) {
        const T* x = args.In<T>(0) + (first_input + i) * shape.extent_count();
        const T* w = args.In<T>(1) + (channel * shape.in_group() + i) * shape.tap_count();
        VisitTaps(shape, place, [&](int64_t tap, int64_t element) { sum += x[element] * w[tap]; });
      }
      if (args.has_input(2)) sum += args.In<T>(2)[channel];
      out[plane * shape.position_count() + position] = sum;
    });
  }
}

template <class T>
void ConvTransposeReference(const NodeSignature& signature, const KernelArgs& args) {
  const ConvShape shape = *ConvTransposeShapeOf(signature);
  for (int64_t plane = 0; plane < shape.batch * shape.out_channels; ++plane) {
    const int64_t channel = plane % shape.out_channels;
    const int64_t group = channel / shape.out_group();
    T* out = args.Out<T>() + plane * shape.extent_count();
    for (int64_t i = 0; i < shape.extent_count(); ++i) out[i] = T(0);
    for (int64_t i = 0; i < shape.in_group(); ++i) {
      const int64_t in_channel = group * shape.in_group() + i;
      const T* x = args.In<T>(0) + (plane / shape.out_channels * shape.in_channels + in_channel) *
                                       shape.position_count();
      const T* w = args.In<T>(1) + (in_channel * shape.out_group() + channel % shape.out_group()) *
                                       shape.tap_count();
      VisitPlaces(shape, [&](int64_t position, const std::array<int64_t, 3>& place) {
        VisitTaps(shape, place,
                  [&](int64_t tap, int64_t element) { out[element] += x[position] * w[tap]; });
      });
    }
    if (!args.has_input(2)) continue;
    for (int64_t i = 0; i < shape.extent_count(); ++i) out[i] += args.In<T>(2)[channel];
  }
}

}  // namespace tinyprof
