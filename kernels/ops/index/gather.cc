// GatherElements and GatherND.
#include <fmt/format.h>

#include <cstring>

#include "kernels/ops/elementwise/broadcast.h"
#include "kernels/ops/index/index.h"
#include "kernels/ops/index/layout.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/shape/element.h"

namespace tinyprof {
namespace {

template <class E>
class GatherElementsKernel final : public Kernel {
 public:
  GatherElementsKernel(const ElementsLayout& layout, int threads)
      : layout_(layout), threads_(ThreadsFor(layout.plan.element_count, threads)) {}
  std::string implementation() const override { return "element copy"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(layout_.plan.element_count, part, threads_);
      layout_.ForEach(args.inputs[1], range, [&](int64_t at, int64_t offset) {
        args.Out<E>()[at] = args.In<E>(0)[offset];
      });
    }
  }

 private:
  ElementsLayout layout_;
  int threads_;
};

class GatherNdKernel final : public Kernel {
 public:
  GatherNdKernel(SlicesLayout layout, int threads)
      : layout_(std::move(layout)),
        threads_(ThreadsFor(layout_.tuple_count * layout_.slice_bytes / 4, threads)) {}
  std::string implementation() const override { return "row copy"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int64_t tuple = 0; tuple < layout_.tuple_count; ++tuple) {
      if (layout_.slice_bytes == 0) continue;
      std::memcpy(args.Out<std::byte>() + tuple * layout_.slice_bytes,
                  args.In<std::byte>(0) + layout_.OffsetOf(args.inputs[1], tuple),
                  static_cast<size_t>(layout_.slice_bytes));
    }
  }

 private:
  SlicesLayout layout_;
  int threads_;
};

}  // namespace

Result<ElementsLayout> ElementsLayoutOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckIndexInput(signature, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 1));
  const Shape& data = signature.input(0).shape;
  const Shape& indices = signature.input(1).shape;
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 1, data.rank(), data.rank()));
  TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                            NormalizeAxis(signature, signature.Int("axis", 0), data.rank()));
  std::vector<int64_t> strides;
  for (size_t d = 0; d < data.rank(); ++d) {
    if (d != axis && indices[d] > data[d]) {
      return ShapeMismatch(signature, fmt::format("indices of shape {} reach beyond the data's {}",
                                                  indices.ToString(), data.ToString()));
    }
    strides.push_back(d == axis ? 0 : data.stride(d));
  }
  if (indices.element_count() > 0 && data[axis] == 0) {
    return ShapeMismatch(signature, "the data has no elements along the axis");
  }
  return ElementsLayout{.plan = PlanStrided(indices.dims(), strides),
                        .axis_length = data[axis],
                        .axis_stride = data.stride(axis)};
}

Result<SlicesLayout> SlicesLayoutOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckIndexInput(signature, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 1, 1, SIZE_MAX));
  const TensorType& data = signature.input(0);
  const Shape& indices = signature.input(1).shape;
  const int64_t batch_dims = signature.Int("batch_dims", 0);
  const auto rank = static_cast<int64_t>(data.shape.rank());
  const int64_t width = indices.back();
  if (batch_dims < 0 || batch_dims >= static_cast<int64_t>(indices.rank()) || width < 0 ||
      width > rank - batch_dims) {
    return ShapeMismatch(signature,
                         fmt::format("indices of shape {} with {} batch dimensions do not fit the "
                                     "data's {}",
                                     indices.ToString(), batch_dims, data.shape.ToString()));
  }
  SlicesLayout layout{.width = width};
  int64_t batches = 1;
  for (int64_t d = 0; d < batch_dims; ++d) {
    const auto at = static_cast<size_t>(d);
    if (indices[at] != data.shape[at]) return ShapeMismatch(signature, "batch dimensions differ");
    batches *= indices[at];
  }
  const int64_t element_bytes = ByteSize(data.dtype);
  for (size_t d = 0; d + 1 < indices.rank(); ++d) layout.tuple_count *= indices[d];
  layout.tuples_per_batch = batches == 0 ? 1 : std::max<int64_t>(layout.tuple_count / batches, 1);
  const auto first = static_cast<size_t>(batch_dims);
  layout.batch_bytes =
      (first == 0 ? data.shape.element_count() : data.shape.stride(first - 1)) * element_bytes;
  layout.slice_bytes = element_bytes;
  for (size_t d = first; d < data.shape.rank(); ++d) {
    if (d < first + static_cast<size_t>(width)) {
      layout.lengths.push_back(data.shape[d]);
      layout.stride_bytes.push_back(data.shape.stride(d) * element_bytes);
      if (layout.tuple_count > 0 && data.shape[d] == 0) {
        return ShapeMismatch(signature, "the data has no elements to choose from");
      }
    } else {
      layout.slice_bytes *= data.shape[d];
      layout.slice_dims.push_back(data.shape[d]);
    }
  }
  return layout;
}

Result<Types> InferGatherElements(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const ElementsLayout layout, ElementsLayoutOf(signature));
  TINYPROF_RETURN_IF_ERROR(CheckKnownIndices(signature, 1, {layout.axis_length}));
  return Types{{signature.input(0).dtype, signature.input(1).shape}};
}

KernelResult MakeGatherElementsKernel(const NodeSignature& signature,
                                      const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const ElementsLayout layout, ElementsLayoutOf(signature));
  return MakeByElementSize<GatherElementsKernel>(signature.input(0).dtype, layout, options.threads);
}

Result<Types> InferGatherNd(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const SlicesLayout layout, SlicesLayoutOf(signature));
  TINYPROF_RETURN_IF_ERROR(CheckKnownIndices(signature, 1, layout.lengths));
  std::vector<int64_t> dims = signature.input(1).shape.dims();
  dims.pop_back();
  dims.insert(dims.end(), layout.slice_dims.begin(), layout.slice_dims.end());
  Result<Shape> shape = Shape::Create(std::move(dims));
  if (!shape) return ShapeMismatch(signature, shape.error().message);
  return Types{{signature.input(0).dtype, *std::move(shape)}};
}

KernelResult MakeGatherNdKernel(const NodeSignature& signature, const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(SlicesLayout layout, SlicesLayoutOf(signature));
  return std::make_unique<GatherNdKernel>(std::move(layout), options.threads);
}

}  // namespace tinyprof
