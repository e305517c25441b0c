// NonMaxSuppression: of each class the boxes with the highest scores that do not overlap a better
// one. How many there are depends on the data, which has to be known before the run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "kernels/ops/index/index.h"
#include "kernels/ops/onnx_types.h"

namespace tinyprof {
namespace {

struct Box {
  double low_y = 0;
  double low_x = 0;
  double high_y = 0;
  double high_x = 0;

  double area() const { return (high_y - low_y) * (high_x - low_x); }
};

// Four numbers are two opposite corners, or (centred) the middle and the width and height.
Box BoxOf(const double* numbers, bool centred) {
  if (centred) {
    const double x = numbers[0], y = numbers[1], width = numbers[2], height = numbers[3];
    return {y - height / 2, x - width / 2, y + height / 2, x + width / 2};
  }
  const auto [low_y, high_y] = std::minmax(numbers[0], numbers[2]);
  const auto [low_x, high_x] = std::minmax(numbers[1], numbers[3]);
  return {low_y, low_x, high_y, high_x};
}

// The area that two boxes share, over the area that they cover together.
double OverlapOf(const Box& a, const Box& b) {
  const double height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const double width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (height <= 0 || width <= 0) return 0;
  const double shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

struct Limits {
  int64_t count = 0;
  double overlap = 0;
  std::optional<double> score;
};

Result<Limits> LimitsOf(const NodeSignature& signature) {
  Limits limits;
  if (signature.has_input(2)) {
    TINYPROF_ASSIGN_OR_RETURN(const double count, KnownNumber(signature, 2, "number of boxes"));
    limits.count = count > 0 ? static_cast<int64_t>(std::min(count, 1e9)) : 0;
  }
  if (signature.has_input(3)) {
    TINYPROF_ASSIGN_OR_RETURN(limits.overlap, KnownNumber(signature, 3, "overlap threshold"));
  }
  if (signature.has_input(4)) {
    TINYPROF_ASSIGN_OR_RETURN(limits.score, KnownNumber(signature, 4, "score threshold"));
  }
  return limits;
}

// The boxes kept of one class, best first.
std::vector<int64_t> KeptBoxes(const std::vector<Box>& boxes, const double* scores,
                               const Limits& limits) {
  std::vector<int64_t> order(boxes.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> kept;
  for (const int64_t candidate : order) {
    if (static_cast<int64_t>(kept.size()) >= limits.count) break;
    if (limits.score && !(scores[candidate] > *limits.score)) break;
    const Box& box = boxes[static_cast<size_t>(candidate)];
    const bool overlaps = std::any_of(kept.begin(), kept.end(), [&](int64_t better) {
      return OverlapOf(boxes[static_cast<size_t>(better)], box) > limits.overlap;
    });
    if (!overlaps) kept.push_back(candidate);
  }
  return kept;
}

// Rows of batch, class, box.
Result<std::vector<std::array<int64_t, 3>>> SelectionOf(const NodeSignature& signature) {
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 3, 3));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 1, 3, 3));
  const Shape& box_shape = signature.input(0).shape;
  const Shape& score_shape = signature.input(1).shape;
  if (box_shape[2] != 4 || box_shape[0] != score_shape[0] || box_shape[1] != score_shape[2]) {
    return ShapeMismatch(signature, fmt::format("boxes of shape {} do not fit scores of shape {}",
                                                box_shape.ToString(), score_shape.ToString()));
  }
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> numbers, KnownNumbers(signature, 0, "boxes"));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<double> scores, KnownNumbers(signature, 1, "scores"));
  TINYPROF_ASSIGN_OR_RETURN(const Limits limits, LimitsOf(signature));
  const int64_t most = std::min(limits.count, box_shape[1]);
  constexpr double kMaxComparisons = 1e9;
  if (static_cast<double>(scores.size()) * static_cast<double>(most) > kMaxComparisons) {
    return Fail(ErrorCode::kResourceExhausted, "MODEL_TOO_LARGE",
                "NonMaxSuppression has more boxes than can be compared before the run");
  }
  const bool centred = signature.Int("center_point_box", 0) != 0;
  std::vector<std::array<int64_t, 3>> selection;
  for (int64_t batch = 0; batch < box_shape[0]; ++batch) {
    std::vector<Box> boxes;
    for (int64_t i = 0; i < box_shape[1]; ++i) {
      boxes.push_back(BoxOf(numbers.data() + (batch * box_shape[1] + i) * 4, centred));
    }
    for (int64_t kind = 0; kind < score_shape[1]; ++kind) {
      const double* own = scores.data() + (batch * score_shape[1] + kind) * score_shape[2];
      for (const int64_t box : KeptBoxes(boxes, own, limits)) {
        selection.push_back({batch, kind, box});
      }
    }
  }
  return selection;
}

class SelectionKernel final : public Kernel {
 public:
  explicit SelectionKernel(std::vector<std::array<int64_t, 3>> selection)
      : selection_(std::move(selection)) {}
  std::string implementation() const override { return "constant"; }
  void Run(const KernelArgs& args) const noexcept override {
    auto* out = args.Out<int64_t>();
    for (const auto& row : selection_) out = std::copy(row.begin(), row.end(), out);
  }

 private:
  std::vector<std::array<int64_t, 3>> selection_;
};

}  // namespace

Result<Types> InferNonMaxSuppression(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const auto selection, SelectionOf(signature));
  return Types{{DType::kInt64, Shape{static_cast<int64_t>(selection.size()), 3}}};
}

KernelResult MakeNonMaxSuppressionKernel(const NodeSignature& signature,
                                         const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(auto selection, SelectionOf(signature));
  return std::make_unique<SelectionKernel>(std::move(selection));
}

}  // namespace tinyprof
