// Tile and Pad: along each dimension, a table says where each output index comes from.
#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/ops/partition.h"
#include "kernels/ops/shape/element.h"
#include "kernels/ops/shape/infer.h"
#include "kernels/ops/shape/kernels.h"

namespace tinyprof {
namespace {

constexpr int64_t kConstant = -1;  // in a table: no source, the output is the constant

// By dimension and output index: the offset of the source in input elements, or kConstant.
using SourceTables = std::vector<std::vector<int64_t>>;

// The attribute "value" (before opset 11) in the bits of an element, of a float; else 0.
template <class E>
E ConstantOf(const NodeSignature& signature) {
  const float value = signature.Float("value", 0);
  if constexpr (sizeof(E) == sizeof(float)) return value == 0 ? E{0} : std::bit_cast<E>(value);
  if constexpr (sizeof(E) == sizeof(double)) {
    return value == 0 ? E{0} : std::bit_cast<E>(static_cast<double>(value));
  }
  return E{0};
}

template <class E>
class MappedKernel final : public Kernel {
 public:
  MappedKernel(const NodeSignature& signature, SourceTables tables, int threads)
      : constant_(ConstantOf<E>(signature)),
        tables_(std::move(tables)),
        row_length_(static_cast<int64_t>(tables_.back().size())),
        row_count_(row_length_ == 0 ? 0 : signature.output().shape.element_count() / row_length_),
        threads_(ThreadsFor(row_count_ * row_length_, threads)) {}
  std::string implementation() const override { return "mapped copy"; }

  void Run(const KernelArgs& args) const noexcept override {
    const E constant = args.has_input(2) ? *args.In<E>(2) : constant_;
#pragma omp parallel for num_threads(threads_)
    for (int64_t row = 0; row < row_count_; ++row) {
      WriteRow(args.In<E>(0), SourceOfRow(row), constant, args.Out<E>() + row * row_length_);
    }
  }

 private:
  int64_t SourceOfRow(int64_t row) const {
    int64_t source = 0;
    for (size_t d = tables_.size() - 1; d-- > 0;) {
      const auto length = static_cast<int64_t>(tables_[d].size());
      const int64_t step = tables_[d][static_cast<size_t>(row % length)];
      if (step == kConstant) return kConstant;
      source += step;
      row /= length;
    }
    return source;
  }

  void WriteRow(const E* in, int64_t source, E constant, E* out) const {
    if (source == kConstant) {
      std::fill_n(out, row_length_, constant);
      return;
    }
    const std::vector<int64_t>& table = tables_.back();
    for (size_t i = 0; i < table.size(); ++i) {
      out[i] = table[i] == kConstant ? constant : in[source + table[i]];
    }
  }

  E constant_;
  SourceTables tables_;
  int64_t row_length_;
  int64_t row_count_;
  int threads_;
};

// source(d, i) is the input index along dimension d for output index i, or kConstant.
template <class Source>
KernelResult MakeMapped(const NodeSignature& signature, const KernelOptions& options,
                        Source source) {
  const Shape& in = signature.input(0).shape;
  const Shape& out = signature.output().shape;
  SourceTables tables;
  for (size_t d = 0; d < out.rank() && out.element_count() > 0; ++d) {
    std::vector<int64_t>& table = tables.emplace_back();
    for (int64_t i = 0; i < out[d]; ++i) {
      const int64_t index = source(d, i);
      table.push_back(index == kConstant ? kConstant : index * in.stride(d));
    }
  }
  if (tables.empty()) tables.push_back(std::vector<int64_t>(out.element_count() > 0 ? 1 : 0, 0));
  return MakeByElementSize<MappedKernel>(signature.output().dtype, signature, std::move(tables),
                                         options.threads);
}

// Input index for `index`, which may lie outside of [0, length).
int64_t PaddedSource(const std::string& mode, int64_t index, int64_t length) {
  if (index >= 0 && index < length) return index;
  if (mode == "edge") return std::clamp<int64_t>(index, 0, length - 1);
  if (mode == "reflect") return index < 0 ? -index : 2 * (length - 1) - index;
  return kConstant;
}

}  // namespace

KernelResult MakeTileKernel(const NodeSignature& signature, const KernelOptions& options) {
  const Shape& in = signature.input(0).shape;
  return MakeMapped(signature, options, [&](size_t d, int64_t i) { return i % in[d]; });
}

KernelResult MakePadKernel(const NodeSignature& signature, const KernelOptions& options) {
  const Shape& in = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const Padding padding, PaddingOf(signature));
  const std::string mode = signature.String("mode", "constant");
  return MakeMapped(signature, options, [&](size_t d, int64_t i) {
    return PaddedSource(mode, i - padding.before[d], in[d]);
  });
}

}  // namespace tinyprof
