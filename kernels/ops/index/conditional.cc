// Compress, NonZero and Unique: the shape of the output depends on data that is known before the
// run. What can be worked out then is kept by the kernel.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>

#include "kernels/ops/convert.h"
#include "kernels/ops/index/index.h"
#include "kernels/ops/onnx_types.h"

namespace tinyprof {
namespace {

std::optional<int64_t> AxisAttribute(const NodeSignature& signature) {
  if (!signature.has_attribute("axis")) return std::nullopt;
  return signature.Int("axis", 0);
}

// The tensor as [outer, length, row_bytes]; without an axis as a list of elements.
struct RowLayout {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t row_bytes = 1;
  std::optional<size_t> axis;
};

Result<RowLayout> LayoutOf(const NodeSignature& signature) {
  const TensorType& type = signature.input(0);
  RowLayout layout{.length = type.shape.element_count(), .row_bytes = ByteSize(type.dtype)};
  if (const std::optional<int64_t> axis = AxisAttribute(signature)) {
    TINYPROF_ASSIGN_OR_RETURN(const size_t at, NormalizeAxis(signature, *axis, type.shape.rank()));
    layout.axis = at;
    layout.length = type.shape[at];
    layout.row_bytes *= type.shape.stride(at);
    for (size_t d = 0; d < at; ++d) layout.outer *= type.shape[d];
  }
  return layout;
}

// The input's type with `count` rows along the axis, or as a list.
TensorType WithRows(const NodeSignature& signature, const RowLayout& layout, int64_t count) {
  std::vector<int64_t> dims{count};
  if (layout.axis) {
    dims = signature.input(0).shape.dims();
    dims[*layout.axis] = count;
  }
  return {signature.input(0).dtype, Shape(std::move(dims))};
}

void CopyRows(const RowLayout& layout, const std::vector<int64_t>& rows, const KernelArgs& args) {
  if (layout.row_bytes == 0) return;
  std::byte* out = args.Out<std::byte>();
  for (int64_t outer = 0; outer < layout.outer; ++outer) {
    for (const int64_t row : rows) {
      std::memcpy(out, args.In<std::byte>(0) + (outer * layout.length + row) * layout.row_bytes,
                  static_cast<size_t>(layout.row_bytes));
      out += layout.row_bytes;
    }
  }
}

class CompressKernel final : public Kernel {
 public:
  CompressKernel(const RowLayout& layout, std::vector<int64_t> rows)
      : layout_(layout), rows_(std::move(rows)) {}
  std::string implementation() const override { return "row copy"; }
  void Run(const KernelArgs& args) const noexcept override { CopyRows(layout_, rows_, args); }

 private:
  RowLayout layout_;
  std::vector<int64_t> rows_;
};

// The rows that the condition keeps; beyond its end it is false.
Result<std::vector<int64_t>> KeptRows(const NodeSignature& signature, const RowLayout& layout) {
  TINYPROF_RETURN_IF_ERROR(CheckBoolInput(signature, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 1, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> condition,
                            KnownNumbers(signature, 1, "condition"));
  std::vector<int64_t> rows;
  const int64_t end = std::min(layout.length, static_cast<int64_t>(condition.size()));
  for (int64_t i = 0; i < end; ++i) {
    if (condition[static_cast<size_t>(i)] != 0) rows.push_back(i);
  }
  return rows;
}

Result<std::vector<int64_t>> NonZeroElements(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> numbers, KnownNumbers(signature, 0, "data"));
  std::vector<int64_t> elements;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != 0) elements.push_back(static_cast<int64_t>(i));
  }
  return elements;
}

class NonZeroKernel final : public Kernel {
 public:
  NonZeroKernel(const Shape& shape, std::vector<int64_t> elements)
      : shape_(shape), elements_(std::move(elements)) {}
  std::string implementation() const override { return "constant"; }
  void Run(const KernelArgs& args) const noexcept override {
    auto* out = args.Out<int64_t>();
    for (size_t d = 0; d < shape_.rank(); ++d) {
      for (const int64_t element : elements_) *out++ = element / shape_.stride(d) % shape_[d];
    }
  }

 private:
  Shape shape_;
  std::vector<int64_t> elements_;
};

// What Unique finds: the first row of each kind, the kind of each row, how many of each kind.
struct Kinds {
  std::vector<int64_t> firsts;
  std::vector<int64_t> kind_of_row;
  std::vector<int64_t> counts;
};

Result<Kinds> KindsOf(const NodeSignature& signature, const RowLayout& layout) {
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> numbers, KnownNumbers(signature, 0, "data"));
  const int64_t inner = layout.row_bytes / ByteSize(signature.input(0).dtype);
  const auto order_of = [&](int64_t a, int64_t b) {
    for (int64_t outer = 0; outer < layout.outer; ++outer) {
      for (int64_t i = 0; i < inner; ++i) {
        const double left = numbers[static_cast<size_t>((outer * layout.length + a) * inner + i)];
        const double right = numbers[static_cast<size_t>((outer * layout.length + b) * inner + i)];
        if (left != right) return left < right ? -1 : 1;
      }
    }
    return 0;
  };
  std::vector<int64_t> rows(static_cast<size_t>(layout.length));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  std::stable_sort(rows.begin(), rows.end(),
                   [&](int64_t a, int64_t b) { return order_of(a, b) < 0; });
  Kinds kinds;
  kinds.kind_of_row.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || order_of(rows[i - 1], rows[i]) != 0) {
      kinds.firsts.push_back(rows[i]);
      kinds.counts.push_back(0);
    }
    ++kinds.counts.back();
    kinds.kind_of_row[static_cast<size_t>(rows[i])] = static_cast<int64_t>(kinds.firsts.size()) - 1;
  }
  if (signature.Int("sorted", 1) != 0) return kinds;
  // In the order in which they are first seen.
  std::vector<int64_t> by_first(kinds.firsts.size());
  std::iota(by_first.begin(), by_first.end(), int64_t{0});
  const auto at = [](const std::vector<int64_t>& list, int64_t i) {
    return list[static_cast<size_t>(i)];
  };
  std::sort(by_first.begin(), by_first.end(),
            [&](int64_t a, int64_t b) { return at(kinds.firsts, a) < at(kinds.firsts, b); });
  Kinds seen{.firsts = {}, .kind_of_row = kinds.kind_of_row, .counts = {}};
  std::vector<int64_t> place(by_first.size());
  for (const int64_t kind : by_first) {
    place[static_cast<size_t>(kind)] = static_cast<int64_t>(seen.firsts.size());
    seen.firsts.push_back(at(kinds.firsts, kind));
    seen.counts.push_back(at(kinds.counts, kind));
  }
  for (int64_t& kind : seen.kind_of_row) kind = at(place, kind);
  return seen;
}

class UniqueKernel final : public Kernel {
 public:
  UniqueKernel(const RowLayout& layout, Kinds kinds) : layout_(layout), kinds_(std::move(kinds)) {}
  std::string implementation() const override { return "row copy"; }
  void Run(const KernelArgs& args) const noexcept override {
    if (args.outputs[0].data != nullptr) CopyRows(layout_, kinds_.firsts, args);
    const std::array<const std::vector<int64_t>*, 3> lists = {&kinds_.firsts, &kinds_.kind_of_row,
                                                              &kinds_.counts};
    for (size_t i = 0; i < lists.size() && i + 1 < args.outputs.size(); ++i) {
      if (args.outputs[i + 1].data == nullptr) continue;
      std::copy(lists[i]->begin(), lists[i]->end(), args.Out<int64_t>(i + 1));
    }
  }

 private:
  RowLayout layout_;
  Kinds kinds_;
};

}  // namespace

Result<Types> InferCompress(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const RowLayout layout, LayoutOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, KeptRows(signature, layout));
  return Types{WithRows(signature, layout, static_cast<int64_t>(rows.size()))};
}

KernelResult MakeCompressKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(const RowLayout layout, LayoutOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(std::vector<int64_t> rows, KeptRows(signature, layout));
  return std::make_unique<CompressKernel>(layout, std::move(rows));
}

Result<Types> InferNonZero(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> elements, NonZeroElements(signature));
  const auto rank = static_cast<int64_t>(signature.input(0).shape.rank());
  return Types{{DType::kInt64, Shape{rank, static_cast<int64_t>(elements.size())}}};
}

KernelResult MakeNonZeroKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(std::vector<int64_t> elements, NonZeroElements(signature));
  return std::make_unique<NonZeroKernel>(signature.input(0).shape, std::move(elements));
}

Result<Types> InferUnique(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 4));
  TINYPROF_ASSIGN_OR_RETURN(const RowLayout layout, LayoutOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(const Kinds kinds, KindsOf(signature, layout));
  const auto count = static_cast<int64_t>(kinds.firsts.size());
  Types types{WithRows(signature, layout, count),
              {DType::kInt64, Shape{count}},
              {DType::kInt64, Shape{layout.length}},
              {DType::kInt64, Shape{count}}};
  types.resize(output_count);
  return types;
}

KernelResult MakeUniqueKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(const RowLayout layout, LayoutOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(Kinds kinds, KindsOf(signature, layout));
  return std::make_unique<UniqueKernel>(layout, std::move(kinds));
}

}  // namespace tinyprof
