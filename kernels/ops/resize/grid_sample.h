// GridSample: each output pixel is sampled at a place of the image that the grid gives, x and y
// from -1 to 1. The weights of 4 (linear) or 16 (cubic) neighbours are worked out once for all
// channels, as indices are, and not counted; each channel costs a multiplication a neighbour and
// the additions between them; nearest costs none.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/ops/op.h"

namespace tinyprof {

struct GridSampleShape {
  enum class Mode { kNearest, kLinear, kCubic };
  enum class Padding { kZeros, kBorder, kReflection };

  int64_t batch = 0;
  int64_t channels = 0;
  int64_t in_height = 0;
  int64_t in_width = 0;
  int64_t out_height = 0;
  int64_t out_width = 0;
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;

  // Neighbours along one axis.
  int64_t taps() const { return mode == Mode::kNearest ? 1 : mode == Mode::kLinear ? 2 : 4; }
};

Result<GridSampleShape> GridSampleShapeOf(const NodeSignature& signature);
Result<std::vector<TensorType>> InferGridSample(const NodeSignature& signature,
                                                size_t output_count);
Result<Cost> GridSampleCost(const NodeSignature& signature);

// The neighbours of one place along an axis; index -1: outside, where the image is 0.
struct GridTaps {
  std::array<int64_t, 4> indices{};
  std::array<double, 4> weights{};
};
// `place` from -1 to 1 along an axis of `length` elements.
GridTaps TapsOf(const GridSampleShape& shape, double place, int64_t length);

template <class T>
void GridSampleReference(const NodeSignature& signature, const KernelArgs& args) {
  const GridSampleShape shape = *GridSampleShapeOf(signature);
  const int64_t in_plane = shape.in_height * shape.in_width;
  const int64_t out_plane = shape.out_height * shape.out_width;
  const auto taps = static_cast<size_t>(shape.taps());
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t at = 0; at < out_plane; ++at) {
      const T* grid = args.In<T>(1) + (n * out_plane + at) * 2;
      const GridTaps x = TapsOf(shape, static_cast<double>(grid[0]), shape.in_width);
      const GridTaps y = TapsOf(shape, static_cast<double>(grid[1]), shape.in_height);
      for (int64_t channel = 0; channel < shape.channels; ++channel) {
        const T* image = args.In<T>(0) + (n * shape.channels + channel) * in_plane;
        const auto element = [&](size_t i, size_t j) {
          const bool inside = y.indices[i] >= 0 && x.indices[j] >= 0;
          return inside ? image[y.indices[i] * shape.in_width + x.indices[j]] : T(0);
        };
        T sum = element(0, 0);
        if (taps > 1) {
          sum = sum * T(y.weights[0] * x.weights[0]);
          for (size_t k = 1; k < taps * taps; ++k) {
            const size_t i = k / taps, j = k % taps;
            sum += element(i, j) * T(y.weights[i] * x.weights[j]);
          }
        }
        args.Out<T>()[(n * shape.channels + channel) * out_plane + at] = sum;
      }
    }
  }
}

}  // namespace tinyprof
