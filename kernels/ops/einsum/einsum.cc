#include "kernels/ops/einsum/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"
#include "kernels/ops/dtypes.h"
#include "kernels/ops/einsum/reference.h"
#include "kernels/ops/elementwise/binary_functors.h"
#include "kernels/ops/families.h"
#include "kernels/ops/number_kernel.h"

namespace tinyprof {
namespace {

constexpr size_t kAnyNumberOfInputs = 2147483647;

// The labels of one term: letters, and for "..." the digits that stand for its dimensions.
using Labels = std::string;

struct Equation {
  std::vector<Labels> terms;
  Labels output;
};

tl::unexpected<Error> BadEquation(const NodeSignature& signature, std::string_view why) {
  return BadAttribute(signature,
                      fmt::format("equation \"{}\": {}", signature.String("equation", ""), why));
}

// Replaces "..." by the last `count` of `ellipsis_rank` digits.
std::optional<Labels> Expanded(const std::string& term, size_t count, size_t ellipsis_rank) {
  const size_t dots = term.find("...");
  if (dots == std::string::npos)
    return term.find('.') == std::string::npos ? std::optional<Labels>(term) : std::nullopt;
  Labels digits;
  for (size_t i = ellipsis_rank - count; i < ellipsis_rank; ++i) {
    digits.push_back(static_cast<char>('0' + i));
  }
  const Labels rest = term.substr(dots + 3);
  if (rest.find('.') != std::string::npos) return std::nullopt;
  return term.substr(0, dots) + digits + rest;
}

Result<Equation> ParseEquation(const NodeSignature& signature) {
  std::string text = signature.String("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<std::string> terms(1);
  for (const char c : left) {
    if (c == ',') {
      terms.emplace_back();
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '.') {
      terms.back().push_back(c);
    } else {
      return BadEquation(signature, fmt::format("'{}' is no letter", c));
    }
  }
  if (terms.size() != signature.inputs.size()) {
    return BadEquation(signature, fmt::format("it has {} terms for {} operands", terms.size(),
                                              signature.inputs.size()));
  }
  std::vector<size_t> ellipsis(terms.size(), 0);
  size_t ellipsis_rank = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const size_t rank = signature.input(i).shape.rank();
    const bool has_dots = terms[i].find("...") != std::string::npos;
    const size_t letters = terms[i].size() - (has_dots ? 3 : 0);
    if (letters > rank || (!has_dots && letters != rank)) {
      return BadEquation(signature,
                         fmt::format("term {} does not fit an operand of {} dimensions", i, rank));
    }
    ellipsis[i] = rank - letters;
    ellipsis_rank = std::max(ellipsis_rank, ellipsis[i]);
  }
  Equation equation;
  std::map<char, int> uses;
  for (size_t i = 0; i < terms.size(); ++i) {
    const std::optional<Labels> labels = Expanded(terms[i], ellipsis[i], ellipsis_rank);
    if (!labels) return BadEquation(signature, "a point is not part of \"...\"");
    for (const char c : *labels) ++uses[c];
    equation.terms.push_back(*labels);
  }
  if (arrow != std::string::npos) {
    const std::optional<Labels> labels =
        Expanded(text.substr(arrow + 2), ellipsis_rank, ellipsis_rank);
    if (!labels) return BadEquation(signature, "a point is not part of \"...\"");
    equation.output = *labels;
  } else {
    // Without an arrow: "..." and then the letters that are used once, in order.
    for (const auto& [label, count] : uses) {
      if (std::isdigit(static_cast<unsigned char>(label)) != 0 || count == 1) {
        equation.output.push_back(label);
      }
    }
  }
  for (size_t i = 0; i < equation.output.size(); ++i) {
    if (!uses.contains(equation.output[i]) ||
        equation.output.find(equation.output[i], i + 1) != std::string::npos) {
      return BadEquation(signature, "the output has a letter that is unknown or repeated");
    }
  }
  return equation;
}

int64_t Product(const std::vector<int64_t>& lengths) {
  int64_t product = 1;
  for (const int64_t length : lengths) product *= length;
  return product;
}

Result<std::vector<TensorType>> InferEinsum(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckNumberInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  TINYPROF_ASSIGN_OR_RETURN(EinsumPlan plan, EinsumPlanOf(signature));
  return std::vector<TensorType>{{signature.input(0).dtype, std::move(plan.output)}};
}

Result<Cost> EinsumCost(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const EinsumPlan plan, EinsumPlanOf(signature));
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(const int64_t combinations,
                            CheckedMul(plan.kept_count(), plan.summed_count()));
  if (!IsFloating(signature.input(0).dtype) || combinations == 0) return cost;
  const auto operands = static_cast<int64_t>(plan.strides.size());
  if (operands == 2) {
    cost.flops.mac = combinations;
    cost.valid_tap_mac_count = combinations;
    return cost;
  }
  TINYPROF_ASSIGN_OR_RETURN(cost.flops.add_mul_div, CheckedMul(combinations, operands - 1));
  cost.flops.reduction = combinations - plan.kept_count();
  return cost;
}

template <class T>
class EinsumKernel final : public Kernel {
 public:
  explicit EinsumKernel(EinsumPlan plan) : plan_(std::move(plan)) {}
  std::string implementation() const override { return "naive"; }
  void Run(const KernelArgs& args) const noexcept override { RunEinsum<T>(plan_, args); }

 private:
  EinsumPlan plan_;
};

Result<std::unique_ptr<Kernel>> MakeEinsum(const NodeSignature& signature,
                                           const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(EinsumPlan plan, EinsumPlanOf(signature));
  return MakeForNumber<EinsumKernel>(signature, std::move(plan));
}

constexpr std::array kOperators = {
    Operator{"Einsum", 1, kAnyNumberOfInputs, &InferEinsum, &EinsumCost, &MakeEinsum, &MakeEinsum},
};

}  // namespace

int64_t EinsumPlan::kept_count() const { return Product(kept); }
int64_t EinsumPlan::summed_count() const { return Product(summed); }

Result<EinsumPlan> EinsumPlanOf(const NodeSignature& signature) {
  TINYPROF_ASSIGN_OR_RETURN(const Equation equation, ParseEquation(signature));
  std::map<char, int64_t> lengths;
  for (size_t i = 0; i < equation.terms.size(); ++i) {
    const Shape& shape = signature.input(i).shape;
    for (size_t d = 0; d < shape.rank(); ++d) {
      const char label = equation.terms[i][d];
      int64_t& length = lengths.emplace(label, shape[d]).first->second;
      const bool is_ellipsis = std::isdigit(static_cast<unsigned char>(label)) != 0;
      if (is_ellipsis && length == 1) length = shape[d];
      if (length == shape[d] || (is_ellipsis && shape[d] == 1)) continue;
      return ShapeMismatch(signature, fmt::format("'{}' is {} and {}", label, length, shape[d]));
    }
  }
  EinsumPlan plan;
  Labels order = equation.output;
  for (const char label : equation.output) plan.kept.push_back(lengths.at(label));
  for (const auto& [label, length] : lengths) {
    if (equation.output.find(label) != std::string::npos) continue;
    order.push_back(label);
    plan.summed.push_back(length);
  }
  for (size_t i = 0; i < equation.terms.size(); ++i) {
    const Shape& shape = signature.input(i).shape;
    std::vector<int64_t>& strides = plan.strides.emplace_back(order.size(), 0);
    for (size_t d = 0; d < shape.rank(); ++d) {
      // A label that a term has twice walks its diagonal.
      if (shape[d] != 1) strides[order.find(equation.terms[i][d])] += shape.stride(d);
    }
  }
  Result<Shape> output = Shape::Create(plan.kept);
  if (!output) return ShapeMismatch(signature, output.error().message);
  plan.output = *std::move(output);
  return plan;
}

std::span<const Operator> EinsumOperators() { return kOperators; }

}  // namespace tinyprof
