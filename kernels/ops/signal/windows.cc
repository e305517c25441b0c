#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/ops/checks.h"
#include "kernels/ops/convert.h"
#include "kernels/ops/onnx_types.h"
#include "kernels/ops/signal/signal.h"

namespace tinyprof {
namespace {

using Types = std::vector<TensorType>;
using KernelResult = Result<std::unique_ptr<Kernel>>;

constexpr double kMaxLength = 1 << 24;

class ConstantKernel final : public Kernel {
 public:
  ConstantKernel(const std::vector<double>& elements, DType dtype)
      : bytes_(elements.size() * static_cast<size_t>(ByteSize(dtype))) {
    FindConversion(DType::kFloat64, dtype)(elements.data(), bytes_.data(), 0,
                                           static_cast<int64_t>(elements.size()));
  }
  std::string implementation() const override { return "constant"; }
  void Run(const KernelArgs& args) const noexcept override {
    if (!bytes_.empty()) std::memcpy(args.outputs[0].data, bytes_.data(), bytes_.size());
  }

 private:
  std::vector<std::byte> bytes_;
};

Result<DType> OutputTypeOf(const NodeSignature& signature) {
  const std::optional<DType> dtype = DTypeOfOnnxNumber(signature.Int("output_datatype", 1));
  if (dtype) return *dtype;
  return BadAttribute(signature, "output_datatype is no type that is supported");
}

Result<int64_t> KnownLength(const NodeSignature& signature, size_t index, std::string_view what) {
  TINYPROF_ASSIGN_OR_RETURN(const double length, KnownNumber(signature, index, what));
  if (length >= 0 && length <= kMaxLength) return static_cast<int64_t>(length);
  return ShapeMismatch(signature, fmt::format("{} is {}", what, length));
}

// a0 - a1 cos(x) + a2 cos(2x).
std::array<double, 3> CoefficientsOfWindow(const NodeSignature& signature) {
  if (signature.node->op_type == "HannWindow") return {0.5, 0.5, 0};
  if (signature.node->op_type == "HammingWindow") return {25.0 / 46, 21.0 / 46, 0};
  return {0.42, 0.5, 0.08};
}

struct MelNumbers {
  int64_t bands = 0;
  int64_t length = 0;
  double rate = 0;
  double low = 0;
  double high = 0;

  int64_t bins() const { return length / 2 + 1; }
};

Result<MelNumbers> MelNumbersOf(const NodeSignature& signature) {
  MelNumbers numbers;
  TINYPROF_ASSIGN_OR_RETURN(numbers.bands, KnownLength(signature, 0, "number of bands"));
  TINYPROF_ASSIGN_OR_RETURN(numbers.length, KnownLength(signature, 1, "length of the DFT"));
  TINYPROF_ASSIGN_OR_RETURN(numbers.rate, KnownNumber(signature, 2, "sample rate"));
  TINYPROF_ASSIGN_OR_RETURN(numbers.low, KnownNumber(signature, 3, "lower edge"));
  TINYPROF_ASSIGN_OR_RETURN(numbers.high, KnownNumber(signature, 4, "upper edge"));
  constexpr double kMaxHertz = 1e12;
  if (numbers.rate > 0 && numbers.low >= 0 && numbers.low <= numbers.high &&
      numbers.high <= kMaxHertz) {
    return numbers;
  }
  return ShapeMismatch(signature, fmt::format("edges {} and {} at a rate of {} make no bands",
                                              numbers.low, numbers.high, numbers.rate));
}

// The bin of the spectrum at `step` of the equal steps on the mel scale.
int64_t BinOf(const MelNumbers& numbers, int64_t step) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(numbers.low);
  const double width = (mel(numbers.high) - low) / static_cast<double>(numbers.bands + 2);
  const double at = low + static_cast<double>(step) * width;
  const double hertz = 700 * (std::pow(10, at / 2595) - 1);
  const double bin = std::floor(static_cast<double>(numbers.length + 1) * hertz / numbers.rate);
  return static_cast<int64_t>(std::clamp(bin, 0.0, static_cast<double>(numbers.bins() - 1)));
}

std::vector<double> MelMatrix(const MelNumbers& numbers) {
  std::vector<double> matrix(static_cast<size_t>(numbers.bins() * numbers.bands), 0);
  for (int64_t band = 0; band < numbers.bands; ++band) {
    const int64_t low = BinOf(numbers, band);
    const int64_t centre = BinOf(numbers, band + 1);
    const int64_t high = BinOf(numbers, band + 2);
    const auto at = [&](int64_t bin) -> double& {
      return matrix[static_cast<size_t>(bin * numbers.bands + band)];
    };
    for (int64_t bin = low; bin <= centre; ++bin) {
      at(bin) =
          low == centre ? 1 : static_cast<double>(bin - low) / static_cast<double>(centre - low);
    }
    for (int64_t bin = centre; bin < high; ++bin) {
      at(bin) = static_cast<double>(high - bin) / static_cast<double>(high - centre);
    }
  }
  return matrix;
}

}  // namespace

Result<Types> InferWindow(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const DType dtype, OutputTypeOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t length, KnownLength(signature, 0, "size"));
  return Types{{dtype, Shape{length}}};
}

KernelResult MakeWindowKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  const int64_t length = signature.output().shape[0];
  const auto [a0, a1, a2] = CoefficientsOfWindow(signature);
  // A window that is not periodic ends where it began.
  const int64_t period = signature.Int("periodic", 1) != 0 ? length : length - 1;
  std::vector<double> elements(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) /
                        static_cast<double>(std::max<int64_t>(period, 1));
    elements[static_cast<size_t>(i)] = a0 - a1 * std::cos(turn) + a2 * std::cos(2 * turn);
  }
  return std::make_unique<ConstantKernel>(elements, signature.output().dtype);
}

Result<Types> InferMelMatrix(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const DType dtype, OutputTypeOf(signature));
  TINYPROF_ASSIGN_OR_RETURN(const MelNumbers numbers, MelNumbersOf(signature));
  if (static_cast<double>(numbers.bins()) * static_cast<double>(numbers.bands) > kMaxLength) {
    return ShapeMismatch(
        signature, fmt::format("{} bands of {} bins are too many", numbers.bands, numbers.bins()));
  }
  Result<Shape> shape = Shape::Create({numbers.bins(), numbers.bands});
  if (!shape) return ShapeMismatch(signature, shape.error().message);
  return Types{{dtype, *std::move(shape)}};
}

KernelResult MakeMelMatrixKernel(const NodeSignature& signature, const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(const MelNumbers numbers, MelNumbersOf(signature));
  return std::make_unique<ConstantKernel>(MelMatrix(numbers), signature.output().dtype);
}

}  // namespace tinyprof
