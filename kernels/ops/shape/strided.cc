// Transpose, Expand and Slice: a copy whose source moves by a fixed stride along each dimension.
#include <algorithm>
#include <array>
#include <vector>

#include "kernels/ops/elementwise/broadcast.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/shape/element.h"
#include "kernels/ops/shape/infer.h"
#include "kernels/ops/shape/kernels.h"

namespace tinyprof {
namespace {

template <class E>
class StridedKernel final : public Kernel {
 public:
  StridedKernel(const BroadcastPlan& plan, int64_t offset, int threads)
      : plan_(plan), offset_(offset), threads_(ThreadsFor(plan.element_count, threads)) {}
  std::string implementation() const override { return "strided copy"; }

  void Run(const KernelArgs& args) const noexcept override {
    const E* in = args.In<E>(0) + offset_;
    E* out = args.Out<E>();
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(plan_.element_count, part, threads_);
      ForEachRow(plan_, range.begin, range.end, [&](const BroadcastRow& row) {
        CopyRow(in + row.offsets[0], out + row.begin, row.length);
      });
    }
  }

 private:
  void CopyRow(const E* in, E* out, int64_t length) const {
    const int64_t stride = plan_.inner_stride(0);
    if (stride == 1) {
      std::copy_n(in, length, out);
    } else {
      for (int64_t i = 0; i < length; ++i) out[i] = in[i * stride];
    }
  }

  BroadcastPlan plan_;
  int64_t offset_;  // of the first output element in the input
  int threads_;
};

KernelResult MakeStrided(const NodeSignature& signature, const BroadcastPlan& plan, int64_t offset,
                         const KernelOptions& options) {
  return MakeByElementSize<StridedKernel>(signature.output().dtype, plan, offset, options.threads);
}

}  // namespace

KernelResult MakeTransposeKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<size_t> perm, PermutationOf(signature));
  std::vector<int64_t> strides;
  for (const size_t axis : perm) strides.push_back(signature.input(0).shape.stride(axis));
  return MakeStrided(signature, PlanStrided(signature.output().shape.dims(), strides), 0, options);
}

KernelResult MakeExpandKernel(const NodeSignature& signature, const KernelOptions& options) {
  return MakeStrided(
      signature, PlanBroadcast(signature.output().shape, {&signature.input(0).shape}), 0, options);
}

KernelResult MakeSliceKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, SliceRangesOf(signature));
  std::vector<int64_t> strides;
  int64_t offset = 0;
  for (size_t d = 0; d < ranges.size(); ++d) {
    const int64_t stride = signature.input(0).shape.stride(d);
    // The step of a dimension with one element is never taken and may be as large as it likes.
    strides.push_back(ranges[d].count > 1 ? ranges[d].step * stride : 0);
    if (signature.output().shape.element_count() > 0) offset += ranges[d].start * stride;
  }
  return MakeStrided(signature, PlanStrided(signature.output().shape.dims(), strides), offset,
                     options);
}

// The output [N, C, H, b, W, b] seen through the input's strides.
KernelResult MakeDepthToSpaceKernel(const NodeSignature& signature, const KernelOptions& options) {
  const Shape& in = signature.input(0).shape;
  const int64_t block = signature.Int("blocksize", 1);
  const int64_t channels = in[1] / (block * block);
  const int64_t channel = in.stride(1);
  const bool channel_first = signature.String("mode", "DCR") == "CRD";
  const int64_t row_stride = channel * block * (channel_first ? 1 : channels);
  const int64_t column_stride = channel * (channel_first ? 1 : channels);
  const std::array<int64_t, 6> dims = {in[0], channels, in[2], block, in[3], block};
  const std::array<int64_t, 6> strides = {
      in.stride(0), channel * (channel_first ? block * block : 1), in.stride(2), row_stride, 1,
      column_stride};
  return MakeStrided(signature, PlanStrided(dims, strides), 0, options);
}

// The output [N, b, b, C, H, W] seen through the input's strides.
KernelResult MakeSpaceToDepthKernel(const NodeSignature& signature, const KernelOptions& options) {
  const Shape& in = signature.input(0).shape;
  const int64_t block = signature.Int("blocksize", 1);
  const std::array<int64_t, 6> dims = {in[0], block, block, in[1], in[2] / block, in[3] / block};
  const std::array<int64_t, 6> strides = {in.stride(0), in.stride(2),         1,
                                          in.stride(1), in.stride(2) * block, block};
  return MakeStrided(signature, PlanStrided(dims, strides), 0, options);
}

}  // namespace tinyprof
