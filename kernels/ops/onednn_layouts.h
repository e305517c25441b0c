// Descriptions of tensors for oneDNN, and the layouts that nodes hand to each other by them.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/ops/onednn_kernels.h"

namespace tinyprof::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

const dnnl::engine& Engine();

// `undef` for what the library has not got.
dnnl::memory::data_type DataTypeOf(DType dtype);

// A tensor of these dimensions, row-major.
Desc Plain(const Dims& dims, DType dtype = DType::kFloat32);
// The same with elements `strides` apart.
Desc Strided(const Dims& dims, const Dims& strides, DType dtype = DType::kFloat32);
// Left to the primitive: it describes in return what it would like best.
Desc Free(const Dims& dims, DType dtype = DType::kFloat32);

// The layout that `desc` describes; null when that is row-major.
LayoutPtr LayoutOf(const Desc& desc);
// A tensor of these dimensions in that layout, which LayoutOf() gave; row-major for null.
Desc Arranged(const Dims& dims, const LayoutPtr& layout, DType dtype = DType::kFloat32);

// The same order and blocks for a tensor of other dimensions.
LayoutPtr Resized(const LayoutPtr& layout, const Dims& dims);
// The same for a tensor of another element type; null where the layout has padding.
LayoutPtr Retyped(const LayoutPtr& layout, DType dtype);
// For nodes of one input whose output has its shape or another one of as many dimensions: the
// layout that the input has, for both.
NodeLayouts KeepLayout(const NodeSignature& signature, const OnednnOptions& options);

}  // namespace tinyprof::onednn
