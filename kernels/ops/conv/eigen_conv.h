// The ways in which convolutions run on Eigen; eigen.cc chooses among them. All are for float32.
#pragma once

#include <memory>

#include "kernels/ops/conv/conv_shape.h"
#include "kernels/ops/elementwise/eigen_epilogue.h"
#include "kernels/ops/kernel.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {

// A matrix product of the weights and the unfolded input, a tile of places at a time so that the
// unfolded part stays in the cache; nothing is unfolded where IsPointwise. `weights` are
// those of an initializer, which are packed once, or null where only the run knows them.
std::unique_ptr<Kernel> MakeConvGemm(const ConvShape& shape, const float* weights,
                                     const Epilogue& epilogue, int threads);

// The same product with rows of taps that are read where they lie in a padded copy of the input
// (eigen_phases.h), a block of lines at a time: nothing is unfolded.
std::unique_ptr<Kernel> MakeConvImplicit(const ConvShape& shape, const float* weights,
                                         const Epilogue& epilogue, int threads);
// Whether that computes little that is dropped.
bool IsImplicitConvWorthwhile(const ConvShape& shape);

// Whether a kernel of 1 lies on every element once: the input is the matrix that unfolding makes.
bool IsPointwise(const ConvShape& shape);

// One input channel a group: row by row, each tap adds a scaled row of the input.
std::unique_ptr<Kernel> MakeConvDepthwise(const ConvShape& shape, const Epilogue& epilogue,
                                          int threads);

// A matrix product of the transposed weights and the input, folded into the output tile by tile.
std::unique_ptr<Kernel> MakeConvTransposed(const ConvShape& shape, const Epilogue& epilogue,
                                           int threads);

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
