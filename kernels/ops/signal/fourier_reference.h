// The naive loop of DFT and STFT, as a template on the scalar.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/ops/signal/signal.h"

namespace tinyprof {

// Immutable; each thread may work on another row.
template <class T>
class FourierLoop {
 public:
  explicit FourierLoop(FourierShape shape) : shape_(std::move(shape)) {
    for (int64_t i = 0; i < shape_.length; ++i) {
      const double turn =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(shape_.length);
      cosines_.push_back(static_cast<T>(std::cos(turn)));
      sines_.push_back(static_cast<T>(shape_.inverse ? std::sin(turn) : -std::sin(turn)));
    }
  }

  // Frames of all signals.
  int64_t row_count() const { return shape_.outer * shape_.inner * shape_.frames; }
  // Elements of `frame` that RunRow() needs.
  int64_t frame_elements() const { return shape_.length * shape_.parts; }

  // Transforms frame `row` of the signals `x` into its place in `out`; `window` may be null.
  void RunRow(int64_t row, const T* x, const T* window, T* frame, T* out) const {
    const int64_t number = row % shape_.frames;
    const int64_t signal = row / shape_.frames;
    const int64_t inner = signal % shape_.inner;
    const int64_t outer = signal / shape_.inner;
    const int64_t first = number * shape_.step;
    const int64_t samples = std::min(shape_.length, shape_.samples - first);
    for (int64_t i = 0; i < samples; ++i) {
      const int64_t at = (outer * shape_.samples + first + i) * shape_.inner + inner;
      for (int64_t part = 0; part < shape_.parts; ++part) {
        const T element = x[at * shape_.parts + part];
        frame[i * shape_.parts + part] = window == nullptr ? element : element * window[i];
      }
    }
    for (int64_t bin = 0; bin < shape_.bins; ++bin) {
      const int64_t to = ((outer * shape_.frames + number) * shape_.bins + bin) * shape_.inner;
      WriteBin(frame, samples, bin, out + 2 * (to + inner));
    }
  }

 private:
  void WriteBin(const T* frame, int64_t samples, int64_t bin, T* out) const {
    T real = 0;
    T imaginary = 0;
    int64_t turn = 0;
    for (int64_t i = 0; i < samples; ++i) {
      const auto angle = static_cast<size_t>(turn);
      const T* sample = frame + i * shape_.parts;
      real += sample[0] * cosines_[angle];
      imaginary += sample[0] * sines_[angle];
      if (shape_.parts == 2) {
        real -= sample[1] * sines_[angle];
        imaginary += sample[1] * cosines_[angle];
      }
      turn = (turn + bin) % shape_.length;
    }
    const T divisor = static_cast<T>(shape_.length);
    out[0] = shape_.inverse ? real / divisor : real;
    out[1] = shape_.inverse ? imaginary / divisor : imaginary;
  }

  FourierShape shape_;
  std::vector<T> cosines_;
  std::vector<T> sines_;
};

}  // namespace tinyprof
