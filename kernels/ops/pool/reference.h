// The naive loops of the pools. Taps that fall on padding are skipped.
#pragma once

#include "kernels/ops/pool/pool_shape.h"
#include "kernels/ops/reference_kernel.h"
#include "kernels/ops/scalar_math.h"

namespace tinyprof {

using PoolShapeFn = Result<PoolShape> (*)(const NodeSignature& signature);

// A window's taps folded into one value, from the first on, by `fold(value, element)`.
template <class T, class Fold>
T FoldWindow(const PoolShape& shape, const T* plane, const std::array<int64_t, 3>& place,
             const Fold& fold) {
  const auto& [depth, height, width] = shape.axes;
  const PoolAxis::Range z = depth.ValidTaps(place[0]);
  const PoolAxis::Range y = height.ValidTaps(place[1]);
  const PoolAxis::Range x = width.ValidTaps(place[2]);
  T value(0);
  bool first = true;
  for (int64_t i = z.begin; i < z.end; ++i) {
    for (int64_t j = y.begin; j < y.end; ++j) {
      const int64_t line = depth.Element(place[0], i) * height.input + height.Element(place[1], j);
      for (int64_t k = x.begin; k < x.end; ++k) {
        const T element = plane[line * width.input + width.Element(place[2], k)];
        value = first ? element : fold(value, element);
        first = false;
      }
    }
  }
  return value;
}

// What an average is divided by: the taps inside the input, or with count_include_pad also those on
// pads.
inline int64_t AverageDivisor(const PoolShape& shape, const std::array<int64_t, 3>& place) {
  int64_t count = 1;
  for (size_t i = 0; i < 3; ++i) {
    const PoolAxis::Range taps = shape.axes[i].ValidTaps(place[i]);
    count *=
        shape.count_include_pad ? shape.axes[i].PaddedTapCount(place[i]) : taps.end - taps.begin;
  }
  return count;
}

// Calls `window(plane, place)` for each output and stores what it returns.
template <class T, class WindowFn>
void ForEachWindow(const PoolShape& shape, const KernelArgs& args, const WindowFn& window) {
  T* out = args.Out<T>();
  for (int64_t plane = 0; plane < shape.planes; ++plane) {
    const T* x = args.In<T>(0) + plane * shape.input_count();
    for (int64_t i = 0; i < shape.axes[0].output; ++i) {
      for (int64_t j = 0; j < shape.axes[1].output; ++j) {
        for (int64_t k = 0; k < shape.axes[2].output; ++k) {
          *out++ = window(x, std::array<int64_t, 3>{i, j, k});
        }
      }
    }
  }
}

// The element of the plane that is the first largest of a window.
template <class E>
int64_t IndexOfMax(const PoolShape& shape, const E* plane, const std::array<int64_t, 3>& place) {
  const auto& [depth, height, width] = shape.axes;
  const PoolAxis::Range z = depth.ValidTaps(place[0]);
  const PoolAxis::Range y = height.ValidTaps(place[1]);
  const PoolAxis::Range x = width.ValidTaps(place[2]);
  int64_t best = -1;
  for (int64_t i = z.begin; i < z.end; ++i) {
    for (int64_t j = y.begin; j < y.end; ++j) {
      const int64_t line = depth.Element(place[0], i) * height.input + height.Element(place[1], j);
      for (int64_t k = x.begin; k < x.end; ++k) {
        const int64_t at = line * width.input + width.Element(place[2], k);
        if (best < 0 || plane[at] > plane[best]) best = at;
      }
    }
  }
  return best;
}

// The second output of MaxPool: where in the whole input each maximum is; with storage_order 1 the
// position in a plane is counted column by column.
template <class E>
void WriteMaxIndices(const NodeSignature& signature, const PoolShape& shape,
                     const KernelArgs& args) {
  const bool by_column = signature.Int("storage_order", 0) != 0;
  const auto& [depth, height, width] = shape.axes;
  auto* out = args.Out<int64_t>(1);
  for (int64_t plane = 0; plane < shape.planes; ++plane) {
    const int64_t first = plane * shape.input_count();
    for (int64_t at = 0; at < shape.output_count(); ++at) {
      const std::array<int64_t, 3> place = {at / (height.output * width.output),
                                            at / width.output % height.output, at % width.output};
      int64_t index = IndexOfMax(shape, args.In<E>(0) + first, place);
      if (by_column) {
        const int64_t z = index / (height.input * width.input);
        const int64_t y = index / width.input % height.input;
        index = ((index % width.input) * height.input + y) * depth.input + z;
      }
      *out++ = first + index;
    }
  }
}

template <class E>
void MaxPoolLoop(const NodeSignature& signature, const PoolShape& shape, const KernelArgs& args) {
  ForEachWindow<E>(shape, args, [&](const E* x, const std::array<int64_t, 3>& place) {
    return FoldWindow(shape, x, place, [](E a, E b) { return Max(a, b); });
  });
  if (args.outputs.size() < 2 || args.outputs[1].data == nullptr) return;
  WriteMaxIndices<E>(signature, shape, args);
}

// Also of int32, which 8-bit integers are widened to.
template <class T, PoolShapeFn shape_of>
void MaxPoolReference(const NodeSignature& signature, const KernelArgs& args) {
  const PoolShape shape = *shape_of(signature);
  signature.input(0).dtype == DType::kInt32 ? MaxPoolLoop<int32_t>(signature, shape, args)
                                            : MaxPoolLoop<T>(signature, shape, args);
}

template <class T, PoolShapeFn shape_of>
void AveragePoolReference(const NodeSignature& signature, const KernelArgs& args) {
  const PoolShape shape = *shape_of(signature);
  ForEachWindow<T>(shape, args, [&](const T* x, const std::array<int64_t, 3>& place) {
    const T sum = FoldWindow(shape, x, place, [](T a, T b) { return a + b; });
    return sum / static_cast<T>(AverageDivisor(shape, place));
  });
}

}  // namespace tinyprof
