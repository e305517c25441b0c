// RoiAlign: rectangles of an image, each cut into bins that are sampled at sampling_ratio x
// sampling_ratio places between the pixels, of which the mean or the maximum is taken. With
// sampling_ratio 0 a bin has about a sample a pixel: along an axis the length of its rectangle by
// the number of bins, rounded up. What that costs depends on the rectangles, which then have to be
// known before the run. A bin without samples (a rectangle of no size) is 0.
//
// Weights and places are worked out once for all channels and not counted. For each output the mean
// of s samples costs 4 s multiply-accumulates and a division, their maximum 4 s multiplications and
// 4 s - 1 maxima (of the 4 weighted neighbours, as ONNX has it); without samples the mean is still
// divided, a maximum costs nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/ops/op.h"
#include "kernels/ops/scalar_math.h"

namespace tinyprof {

struct RoiAlignShape {
  int64_t images = 0;
  int64_t channels = 0;
  int64_t in_height = 0;
  int64_t in_width = 0;
  int64_t rois = 0;
  int64_t out_height = 1;
  int64_t out_width = 1;
  int64_t samples = 1;  // of a bin along an axis; 0: as its rectangle has it
  double scale = 1;     // from the rectangles' coordinates to pixels
  bool half_pixel = true;
  bool takes_maximum = false;
};

// UNIMPLEMENTED / "ATTRIBUTE_NOT_SUPPORTED" where the number of samples depends on rectangles that
// are data of the run, RESOURCE_EXHAUSTED / "MODEL_TOO_LARGE" where a known one takes too many.
Result<RoiAlignShape> RoiAlignShapeOf(const NodeSignature& signature);
Result<std::vector<TensorType>> InferRoiAlign(const NodeSignature& signature, size_t output_count);
Result<Cost> RoiAlignCost(const NodeSignature& signature);

// Of a bin along each axis.
struct RoiSamples {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t count() const { return rows * columns; }
};
// Of the rectangle x1, y1, x2, y2.
RoiSamples RoiSamplesOf(const RoiAlignShape& shape, const std::array<double, 4>& roi);

// The four pixels around a place: where they are in a plane and what they weigh. All weigh 0 where
// the place is more than a pixel outside of the image.
struct RoiNeighbours {
  std::array<int64_t, 4> offsets{};
  std::array<double, 4> weights{};
};
// Sample (i, j) of the `samples` of bin (row, column) of the rectangle x1, y1, x2, y2.
RoiNeighbours RoiNeighboursOf(const RoiAlignShape& shape, const std::array<double, 4>& roi,
                              const RoiSamples& samples, int64_t row, int64_t column, int64_t i,
                              int64_t j);

// One bin of one plane.
template <class T>
T RoiBin(const RoiAlignShape& shape, const std::array<double, 4>& roi, const RoiSamples& samples,
         const T* plane, int64_t row, int64_t column) {
  T result = T(0);
  for (int64_t sample = 0; sample < samples.count(); ++sample) {
    const RoiNeighbours near = RoiNeighboursOf(shape, roi, samples, row, column,
                                               sample / samples.columns, sample % samples.columns);
    for (size_t k = 0; k < 4; ++k) {
      const T value = plane[near.offsets[k]];
      if (!shape.takes_maximum) {
        result += T(near.weights[k]) * value;
      } else if (sample == 0 && k == 0) {
        result = T(near.weights[k]) * value;
      } else {
        result = Max(result, T(near.weights[k]) * value);
      }
    }
  }
  const auto count = static_cast<double>(std::max<int64_t>(samples.count(), 1));
  return shape.takes_maximum ? result : result / T(count);
}

template <class T>
void RoiAlignReference(const NodeSignature& signature, const KernelArgs& args) {
  const RoiAlignShape shape = *RoiAlignShapeOf(signature);
  T* out = args.Out<T>();
  for (int64_t r = 0; r < shape.rois; ++r) {
    std::array<double, 4> roi;
    for (size_t k = 0; k < 4; ++k) {
      roi[k] = static_cast<double>(args.In<T>(1)[static_cast<size_t>(r) * 4 + k]);
    }
    const RoiSamples samples = RoiSamplesOf(shape, roi);
    // One out of range is clamped, so that nothing outside of the images is ever read.
    const int64_t image = std::clamp<int64_t>(args.In<int64_t>(2)[r], 0, shape.images - 1);
    for (int64_t channel = 0; channel < shape.channels; ++channel) {
      const T* plane =
          args.In<T>(0) + (image * shape.channels + channel) * shape.in_height * shape.in_width;
      for (int64_t row = 0; row < shape.out_height; ++row) {
        for (int64_t column = 0; column < shape.out_width; ++column) {
          *out++ = RoiBin(shape, roi, samples, plane, row, column);
        }
      }
    }
  }
}

}  // namespace tinyprof
