// Signal processing: window functions, the mel filter bank, DFT and STFT.
//
// Windows and filters depend on numbers that are known before the run; they are worked out when the
// kernel is made and cost nothing while it runs. A DFT is counted as the product with its matrix: 2
// multiply-accumulates for each real sample and frequency, 4 for a complex one; 2 divisions for
// each output of an inverse. Samples that a signal is short of its length are padding. An STFT also
// multiplies each sample of a frame with the window.
#pragma once

#include <vector>

#include "kernels/ops/op.h"

namespace tinyprof {

// HannWindow, HammingWindow, BlackmanWindow.
Result<std::vector<TensorType>> InferWindow(const NodeSignature& signature, size_t output_count);
Result<std::unique_ptr<Kernel>> MakeWindowKernel(const NodeSignature& signature,
                                                 const KernelOptions& options);
// Triangles between frequencies that are equally far apart on the mel scale.
Result<std::vector<TensorType>> InferMelMatrix(const NodeSignature& signature, size_t output_count);
Result<std::unique_ptr<Kernel>> MakeMelMatrixKernel(const NodeSignature& signature,
                                                    const KernelOptions& options);

// The transform of `frames` pieces of a signal of `samples`, each `step` after the other.
struct FourierShape {
  int64_t outer = 1;    // signals
  int64_t inner = 1;    // elements between two samples of a signal, without their parts
  int64_t samples = 0;  // of a signal, in the input
  int64_t length = 0;   // of a frame; missing samples are 0
  int64_t frames = 1;
  int64_t step = 0;
  int64_t bins = 0;   // frequencies that are kept
  int64_t parts = 1;  // of a sample: 1 real, 2 complex
  bool inverse = false;
  Shape output;
};
Result<FourierShape> DftShapeOf(const NodeSignature& signature);
Result<FourierShape> StftShapeOf(const NodeSignature& signature);
Result<std::vector<TensorType>> InferDft(const NodeSignature& signature, size_t output_count);
Result<std::vector<TensorType>> InferStft(const NodeSignature& signature, size_t output_count);
Result<Cost> DftCost(const NodeSignature& signature);
Result<Cost> StftCost(const NodeSignature& signature);
Result<std::unique_ptr<Kernel>> MakeDftKernel(const NodeSignature& signature,
                                              const KernelOptions& options);
Result<std::unique_ptr<Kernel>> MakeStftKernel(const NodeSignature& signature,
                                               const KernelOptions& options);

}  // namespace tinyprof
