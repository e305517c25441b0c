#include "kernels/ops/quantize/product_dims.h"

#include <algorithm>

#include "kernels/base/checked_math.h"
#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/matmul/matmul_shape.h"

namespace tinyprof {

NodeSignature FloatProductOf(const NodeSignature& signature, const ProductRoles& roles) {
  NodeSignature product{.node = signature.node, .inputs = {}, .outputs = {}};
  for (const size_t index : {roles.x, roles.w}) {
    NodeSignature::Input input = signature.inputs[index];
    input.type.dtype = DType::kFloat32;
    input.data = nullptr;
    product.inputs.push_back(std::move(input));
  }
  return product;
}

Result<ProductDims> MatmulDims(const NodeSignature& product) {
  TINYPROF_ASSIGN_OR_RETURN(const MatmulShape shape, MatmulShapeOf(product));
  ProductDims dims{.output = shape.output};
  dims.x_rows = shape.m;
  dims.x_run = shape.k;
  dims.w_channels = shape.n;
  TINYPROF_ASSIGN_OR_RETURN(dims.mac_count, CheckedMul(shape.output.element_count(), shape.k));
  return dims;
}

Result<ProductDims> ConvDims(const NodeSignature& product) {
  TINYPROF_ASSIGN_OR_RETURN(const ConvShape shape, ConvShapeOf(product));
  ProductDims dims{.output = shape.output};
  dims.x_rows = 1;
  dims.x_run = std::max<int64_t>(product.input(0).shape.element_count(), 1);
  dims.w_channels = shape.out_channels;
  dims.w_run = std::max<int64_t>(shape.in_group() * shape.tap_count(), 1);
  dims.y_run = std::max<int64_t>(shape.position_count(), 1);
  TINYPROF_ASSIGN_OR_RETURN(dims.mac_count, CheckedMul(shape.output.element_count(), dims.w_run));
  return dims;
}

}  // namespace tinyprof
