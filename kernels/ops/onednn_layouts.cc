#include "kernels/ops/onednn_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/check.h"

namespace tinyprof::onednn {
namespace {

using DataType = dnnl::memory::data_type;

// The dimensions in the order in which memory has them, the outermost first.
std::vector<int> OuterOrder(const dnnl_memory_desc_t& data) {
  std::vector<int> order(static_cast<size_t>(data.ndims));
  std::iota(order.begin(), order.end(), 0);
  const dnnl_dims_t& strides = data.format_desc.blocking.strides;
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return strides[a] > strides[b]; });
  return order;
}

class DescLayout final : public Layout {
 public:
  explicit DescLayout(const Desc& desc) : desc_(desc) {}
  // As the library's format tags: outer dimensions in the order of memory, in capitals those that
  // also lie in blocks, then the blocks.
  std::string name() const override {
    const dnnl_blocking_desc_t& blocking = desc_.data.format_desc.blocking;
    std::array<bool, DNNL_MAX_NDIMS> is_blocked{};
    std::string blocks;
    for (int i = 0; i < blocking.inner_nblks; ++i) {
      is_blocked[static_cast<size_t>(blocking.inner_idxs[i])] = true;
      blocks += fmt::format("{}{}", blocking.inner_blks[i], Letter(blocking.inner_idxs[i]));
    }
    std::string name;
    for (const int dim : OuterOrder(desc_.data)) {
      const char letter = Letter(dim);
      name += is_blocked[static_cast<size_t>(dim)] ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
    return name + blocks;
  }
  int64_t byte_size() const override { return static_cast<int64_t>(desc_.get_size()); }
  bool IsSameAs(const Layout& other) const override {
    const auto* same = dynamic_cast<const DescLayout*>(&other);
    return same != nullptr && same->desc_ == desc_;
  }
  const Desc& desc() const { return desc_; }

 private:
  static char Letter(dnnl_dim_t dim) { return static_cast<char>('a' + dim); }

  Desc desc_;
};

const DescLayout& Ours(const Layout& layout) {
  const auto* ours = dynamic_cast<const DescLayout*>(&layout);
  TINYPROF_CHECK(ours != nullptr);
  return *ours;
}

Desc PlainOf(const Dims& dims, DataType type) {
  Dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return {dims, type, strides};
}

}  // namespace

DataType DataTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return DataType::f32;
    case DType::kInt8:
      return DataType::s8;
    case DType::kUInt8:
      return DataType::u8;
    case DType::kInt32:
      return DataType::s32;
    default:
      return DataType::undef;
  }
}

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

Desc Plain(const Dims& dims, DType dtype) { return PlainOf(dims, DataTypeOf(dtype)); }

Desc Strided(const Dims& dims, const Dims& strides, DType dtype) {
  return {dims, DataTypeOf(dtype), strides};
}

Desc Free(const Dims& dims, DType dtype) {
  return {dims, DataTypeOf(dtype), dnnl::memory::format_tag::any};
}

LayoutPtr LayoutOf(const Desc& desc) {
  if (desc == PlainOf(desc.dims(), desc.data_type())) return nullptr;
  return std::make_shared<DescLayout>(desc);
}

Desc Arranged(const Dims& dims, const LayoutPtr& layout, DType dtype) {
  if (layout == nullptr) return Plain(dims, dtype);
  const Desc& desc = Ours(*layout).desc();
  TINYPROF_CHECK(desc.dims() == dims);
  return desc;
}

LayoutPtr Resized(const LayoutPtr& layout, const Dims& dims) {
  dnnl_memory_desc_t data = Ours(*layout).desc().data;
  dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  const std::vector<int> order = OuterOrder(data);
  std::array<dnnl_dim_t, DNNL_MAX_NDIMS> blocks;
  blocks.fill(1);
  dnnl_dim_t stride = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    blocks[static_cast<size_t>(blocking.inner_idxs[i])] *= blocking.inner_blks[i];
    stride *= blocking.inner_blks[i];
  }
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    const auto d = static_cast<size_t>(*dim);
    const dnnl_dim_t block_count = (dims[d] + blocks[d] - 1) / blocks[d];
    data.dims[d] = dims[d];
    data.padded_dims[d] = block_count * blocks[d];
    blocking.strides[d] = stride;
    stride *= block_count;
  }
  return LayoutOf(Desc(data));
}

LayoutPtr Retyped(const LayoutPtr& layout, DType dtype) {
  dnnl_memory_desc_t data = Ours(*layout).desc().data;
  if (!std::equal(data.dims, data.dims + data.ndims, data.padded_dims)) return nullptr;
  data.data_type = dnnl::memory::convert_to_c(DataTypeOf(dtype));
  return LayoutOf(Desc(data));
}

NodeLayouts KeepLayout(const NodeSignature& signature, const OnednnOptions& options) {
  const LayoutPtr layout = options.layouts.input(0);
  if (layout == nullptr) return {};
  NodeLayouts kept;
  kept.inputs.resize(signature.inputs.size());
  kept.inputs[0] = layout;
  kept.outputs = {Resized(layout, signature.output().shape.dims())};
  return kept;
}

}  // namespace tinyprof::onednn
