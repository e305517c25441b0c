// The table of operators that work with indices.
#include <array>

#include "kernels/ops/families.h"
#include "kernels/ops/index/index.h"

namespace tinyprof {
namespace {

Result<Cost> NoFlops(const NodeSignature& /*signature*/) { return Cost{}; }

int64_t WholeInput(const NodeSignature& signature, size_t index) {
  return signature.input(index).byte_size();
}

// Elements that are taken, but never more than there are.
int64_t TakenOfTheData(const NodeSignature& signature, size_t index) {
  const int64_t whole = WholeInput(signature, index);
  return index == 0 ? std::min(whole, signature.output().byte_size()) : whole;
}

int64_t NothingOfTheData(const NodeSignature& /*signature*/, size_t /*index*/) { return 0; }

using InferRule = Result<Types> (*)(const NodeSignature& signature, size_t output_count);

constexpr Operator Chooser(std::string_view type, size_t min_inputs, size_t max_inputs,
                           InferRule infer, KernelFactory kernel,
                           int64_t (*bytes_read)(const NodeSignature&, size_t) = &WholeInput,
                           Result<Cost> (*cost)(const NodeSignature&) = &NoFlops) {
  return {type, min_inputs, max_inputs, infer, cost, kernel, kernel, bytes_read};
}

constexpr std::array kOperators = {
    Chooser("GatherElements", 2, 2, &InferGatherElements, &MakeGatherElementsKernel,
            &TakenOfTheData),
    Chooser("GatherND", 2, 2, &InferGatherNd, &MakeGatherNdKernel, &TakenOfTheData),
    Chooser("ScatterElements", 3, 3, &InferScatterElements, &MakeScatterElementsKernel, &WholeInput,
            &ScatterCost),
    Chooser("ScatterND", 3, 3, &InferScatterNd, &MakeScatterNdKernel, &WholeInput, &ScatterCost),
    Chooser("Compress", 2, 2, &InferCompress, &MakeCompressKernel, &TakenOfTheData),
    Chooser("NonZero", 1, 1, &InferNonZero, &MakeNonZeroKernel),
    Chooser("Unique", 1, 1, &InferUnique, &MakeUniqueKernel),
    Chooser("NonMaxSuppression", 2, 5, &InferNonMaxSuppression, &MakeNonMaxSuppressionKernel),
    Chooser("OneHot", 3, 3, &InferOneHot, &MakeOneHotKernel),
    Chooser("Range", 3, 3, &InferRange, &MakeRangeKernel, &WholeInput, &RangeCost),
    Chooser("EyeLike", 1, 1, &InferEyeLike, &MakeEyeLikeKernel, &NothingOfTheData),
    Chooser("Trilu", 1, 2, &InferTrilu, &MakeTriluKernel),
    Chooser("ReverseSequence", 2, 2, &InferReverseSequence, &MakeReverseSequenceKernel),
};

}  // namespace

std::span<const Operator> IndexOperators() { return kOperators; }

}  // namespace tinyprof
