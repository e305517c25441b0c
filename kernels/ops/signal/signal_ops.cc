// The table of operators on signals.
#include <array>

#include "kernels/ops/families.h"
#include "kernels/ops/signal/signal.h"

namespace tinyprof {
namespace {

Result<Cost> NoFlops(const NodeSignature& /*signature*/) { return Cost{}; }

constexpr Operator Window(std::string_view type) {
  return {type, 1, 1, &InferWindow, &NoFlops, &MakeWindowKernel, &MakeWindowKernel};
}

constexpr std::array kOperators = {
    Window("HannWindow"),
    Window("HammingWindow"),
    Window("BlackmanWindow"),
    Operator{"MelWeightMatrix", 5, 5, &InferMelMatrix, &NoFlops, &MakeMelMatrixKernel,
             &MakeMelMatrixKernel},
    Operator{"DFT", 1, 2, &InferDft, &DftCost, &MakeDftKernel, &MakeDftKernel},
    Operator{"STFT", 2, 4, &InferStft, &StftCost, &MakeStftKernel, &MakeStftKernel},
};

}  // namespace

std::span<const Operator> SignalOperators() { return kOperators; }

}  // namespace tinyprof
