#include "kernels/ops/resize/eigen_resize.h"

#include <algorithm>
#include <vector>

#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/resize/passes.h"
#include "kernels/ops/shape/element.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// What a pass reads, in the types of the loops: by tap and output position.
struct PassTaps {
  std::vector<int32_t> indices;
  std::vector<float> weights;
};

PassTaps TapsOf(const ResizePass& pass) {
  PassTaps taps;
  for (int64_t tap = 0; tap < pass.taps; ++tap) {
    for (int64_t x = 0; x < pass.output; ++x) {
      const auto at = static_cast<size_t>(x * pass.taps + tap);
      taps.indices.push_back(static_cast<int32_t>(pass.indices[at]));
      taps.weights.push_back(static_cast<float>(pass.weights[at]));
    }
  }
  return taps;
}

// Where neighbours along the axis lie side by side: outputs [begin, end) of one line.
template <int kTaps, class E>
void SampleLine(const ResizePass& pass, const PassTaps& taps, const E* __restrict from,
                int64_t begin, int64_t end, E* __restrict to) {
  const int32_t* __restrict indices = taps.indices.data();
  const float* __restrict weights = taps.weights.data();
  for (int64_t x = begin; x < end; ++x) {
    if constexpr (kTaps == 1) {
      to[x] = from[indices[x]];
    } else {
      E sum = from[indices[x]] * weights[x];
      for (int tap = 1; tap < kTaps; ++tap) {
        sum += from[indices[tap * pass.output + x]] * weights[tap * pass.output + x];
      }
      to[x] = sum;
    }
  }
}

// Where whole rows of `inner` elements are neighbours.
template <int kTaps, class E>
void SampleRow(const ResizePass& pass, const PassTaps& taps, const E* from, int64_t x,
               E* __restrict to) {
  const E* rows[kTaps];
  float weights[kTaps];
  for (int tap = 0; tap < kTaps; ++tap) {
    rows[tap] = from + taps.indices[static_cast<size_t>(tap * pass.output + x)] * pass.inner;
    weights[tap] = taps.weights[static_cast<size_t>(tap * pass.output + x)];
  }
  if constexpr (kTaps == 1) {
    std::copy_n(rows[0], pass.inner, to);
  } else {
    for (int64_t i = 0; i < pass.inner; ++i) {
      E sum = rows[0][i] * weights[0];
      for (int tap = 1; tap < kTaps; ++tap) sum += rows[tap][i] * weights[tap];
      to[i] = sum;
    }
  }
}

// The rows [begin, end) of a pass: a row for each outer index and output position.
template <int kTaps, class E>
void SampleRows(const ResizePass& pass, const PassTaps& taps, const E* x, E* y, int64_t begin,
                int64_t end) {
  for (int64_t row = begin; row < end;) {
    const int64_t outer = row / pass.output;
    const E* from = x + outer * pass.input * pass.inner;
    const int64_t first = row % pass.output;
    if (pass.inner == 1) {
      const int64_t last = std::min(pass.output, first + end - row);
      SampleLine<kTaps>(pass, taps, from, first, last, y + outer * pass.output);
      row += last - first;
    } else {
      SampleRow<kTaps>(pass, taps, from, first, y + row * pass.inner);
      ++row;
    }
  }
}

template <class E>
class Resizer final : public Kernel {
 public:
  Resizer(ResizePlan plan, int threads) : plan_(std::move(plan)) {
    for (const ResizePass& pass : plan_.passes) {
      taps_.push_back(TapsOf(pass));
      threads_.push_back(ThreadsFor(pass.output_count(), threads));
    }
  }
  std::string implementation() const override {
    return plan_.is_nearest ? "row copy" : "vectorized";
  }
  int64_t scratch_bytes() const override {
    return 2 * plan_.between_count() * static_cast<int64_t>(sizeof(E));
  }

  void Run(const KernelArgs& args) const noexcept override {
    RunPasses(plan_, args.In<E>(0), args.Out<E>(), reinterpret_cast<E*>(args.scratch.data()),
              [&](const ResizePass& pass, const E* from, E* to) { RunPass(pass, from, to); });
    if (!plan_.is_nearest) FillOutside(plan_, args.Out<E>());
  }

 private:
  void RunPass(const ResizePass& pass, const E* from, E* to) const {
    const auto index = static_cast<size_t>(&pass - plan_.passes.data());
    const PassTaps& taps = taps_[index];
    const int threads = threads_[index];
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int thread = 0; thread < threads; ++thread) {
      const Partition part = PartOf(pass.row_count(), thread, threads);
      if constexpr (std::is_same_v<E, float>) {
        if (pass.taps == 4) SampleRows<4>(pass, taps, from, to, part.begin, part.end);
        if (pass.taps == 2) SampleRows<2>(pass, taps, from, to, part.begin, part.end);
      }
      if (pass.taps == 1) SampleRows<1>(pass, taps, from, to, part.begin, part.end);
    }
  }

  ResizePlan plan_;
  std::vector<PassTaps> taps_;  // by pass
  std::vector<int> threads_;    // the same
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeResize(const NodeSignature& signature,
                                           const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(ResizePlan plan, ResizePlanOf(signature));
  for (const ResizePass& pass : plan.passes) {
    if (pass.input <= INT32_MAX && pass.output <= INT32_MAX) continue;
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL", "an axis is longer than 2^31");
  }
  if (plan.is_nearest && plan.outside.empty()) {
    return MakeByElementSize<Resizer>(signature.input(0).dtype, std::move(plan), options.threads);
  }
  TINYPROF_RETURN_IF_ERROR(RequireFloat32(signature));
  plan.is_nearest = false;
  return std::make_unique<Resizer<float>>(std::move(plan), options.threads);
}

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
