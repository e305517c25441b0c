// Convolutions of 8-bit integers with one input channel for each output: planes are widened to
// floats less their zero point, in which all sums are exact.
#pragma once

#include <memory>

#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/quantize/eigen_products.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// Whether it has one input channel for each output, few enough taps for exact sums and a padded
// plane of ordinary size.
bool IsIntDepthwise(const ConvShape& shape);
// Of a ConvInteger or QLinearConv for which that holds.
std::unique_ptr<Kernel> MakeIntDepthwise(const NodeSignature& signature, const ProductRoles& roles,
                                         const ConvShape& shape, int threads);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
