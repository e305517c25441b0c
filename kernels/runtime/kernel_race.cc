#include "kernels/runtime/kernel_race.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "kernels/graph/fusion.h"
#include "kernels/graph/origins.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/ops/op.h"
#include "kernels/runtime/layout_plan.h"

namespace tinyprof {
namespace {

using Clock = std::chrono::steady_clock;

// Of one node: the median of so many samples, unless they take longer than that. A sample repeats
// short nodes until it is long beside a clock read.
constexpr int kSamples = 9;
constexpr std::chrono::milliseconds kLongest{60};
constexpr double kSampleNs = 5'000;

std::string TypeText(const TensorType& type) {
  return fmt::format("{} {}", Name(type.dtype), type.shape.ToString());
}

// What the time of a node depends on.
std::string KeyOf(const NodeSignature& signature) {
  const Node& node = *signature.node;
  std::string key = node.op_type;
  for (const auto& [name, attribute] : node.attributes) {
    if (name == kOriginsAttribute) continue;
    key += "; " + name + " ";
    key += std::visit([](const auto& value) { return fmt::format("{}", value); }, attribute);
  }
  for (const NodeSignature::Input& input : signature.inputs) {
    key += !input.present
               ? "; -"
               : fmt::format("; {}{}", input.is_weight ? "weight " : "", TypeText(input.type));
  }
  for (const TensorType& output : signature.outputs) key += "; to " + TypeText(output);
  if (node.fusion == nullptr) return key;
  for (const FusedStep& step : node.fusion->steps) {
    key += fmt::format("; then {} {} {} {} of {}", static_cast<int>(step.kind), step.activation,
                       step.alpha, step.beta, fmt::join(step.inputs, ","));
  }
  return key;
}

// The values of a graph in one of its own.
class Copier {
 public:
  Copier(const Graph& from, Graph& to) : from_(from), to_(to) {}

  ValueId Input(ValueId id) {
    if (id == kNoValue) return id;
    if (const auto known = ids_.find(id); known != ids_.end()) return known->second;
    Value value = from_.value(id);
    const bool is_weight = value.kind == Value::Kind::kInitializer;
    // Of what the network makes, only numbers of reals are as good as any.
    if (value.kind == Value::Kind::kActivation) {
      const bool is_real =
          value.type.dtype == DType::kFloat32 || value.type.dtype == DType::kFloat64;
      value.fill = is_real ? Fill::Uniform(1, 1) : Fill::Constant(0);
    }
    if (!is_weight) value.kind = Value::Kind::kInput;
    const ValueId copy = Append(id, std::move(value));
    if (!is_weight) to_.inputs.push_back(copy);
    return copy;
  }
  ValueId Output(ValueId id) {
    if (id == kNoValue) return id;
    const ValueId copy = Append(id, from_.value(id));
    to_.outputs.push_back(copy);
    return copy;
  }

 private:
  ValueId Append(ValueId id, Value value) {
    to_.values.push_back(std::move(value));
    const auto copy = static_cast<ValueId>(to_.values.size() - 1);
    ids_.emplace(id, copy);
    return copy;
  }

  const Graph& from_;
  Graph& to_;
  std::map<ValueId, ValueId> ids_;
};

Graph Alone(const Graph& graph, const Node& node) {
  Graph alone{.name = node.name, .source = graph.source, .opset = graph.opset};
  Copier copier(graph, alone);
  Node copy = node;
  for (ValueId& id : copy.inputs) id = copier.Input(id);
  for (ValueId& id : copy.outputs) id = copier.Output(id);
  alone.nodes.push_back(std::move(copy));
  return alone;
}

double MedianNs(Session& session, size_t node) {
  const auto time = [&](int repeats) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < repeats; ++i) session.RunNode(node);
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / repeats;
  };
  const Clock::time_point end = Clock::now() + kLongest;
  session.RunNode(node);
  const int repeats = static_cast<int>(std::clamp(kSampleNs / std::max(time(1), 1.0), 1.0, 1000.0));
  std::vector<double> samples;
  do {
    samples.push_back(time(repeats));
  } while (samples.size() < kSamples && Clock::now() < end);
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

Result<KernelTiming> TimeAlone(const Graph& alone, KernelChoice choice, SessionOptions options) {
  options.backend = Backend::kBest;
  options.choices = {choice};
  TINYPROF_ASSIGN_OR_RETURN(LayoutPlan plan, PlanLayouts(alone, options));
  options.choices = std::move(plan.choices);
  options.layouts = std::move(plan.layouts);
  TINYPROF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                            Session::Create(plan.graph, options));
  KernelTiming timing{.choice = choice};
  // In order, since each node reads what those before it have made.
  for (size_t n = 0; n < session->node_count(); ++n) {
    const double median_ns = MedianNs(*session, n);
    if (plan.graph.nodes[n].name != alone.nodes.front().name) {
      timing.reorder_ns += median_ns;
      continue;
    }
    timing.median_ns = median_ns;
    timing.choice.backend = session->backend(n);
    timing.implementation = session->kernel(n).implementation();
  }
  return timing;
}

bool IsKnown(const std::vector<KernelTiming>& timings, const KernelTiming& timing) {
  return std::any_of(timings.begin(), timings.end(), [&](const KernelTiming& other) {
    return other.choice.backend == timing.choice.backend &&
           other.implementation == timing.implementation;
  });
}

}  // namespace

KernelRace::KernelRace(const SessionOptions& options, bool onednn)
    : options_(options), onednn_(onednn) {
  options_.layouts.clear();
}

std::vector<KernelChoice> KernelRace::ContestantsFor(const NodeSignature& signature) const {
  std::vector<KernelChoice> contestants = {{.backend = Backend::kEigen}};
  if (onednn_ && FindOnednnKernel(signature.node->op_type) != nullptr) {
    contestants.push_back({.backend = Backend::kOnednn});
    if (signature.node->op_type == "Conv" && options_.conv_algorithm != ConvAlgorithm::kDirect) {
      contestants.push_back(
          {.backend = Backend::kOnednn, .conv_algorithm = ConvAlgorithm::kWinograd});
    }
  }
  const Result<Cost> cost = CostOf(signature);
  if (cost.has_value() && cost->flop_count() + cost->int_op_count <= kMostNaiveFlops) {
    contestants.push_back({.backend = Backend::kReference});
  }
  return contestants;
}

Result<std::vector<KernelTiming>> KernelRace::Of(const Graph& graph, const Node& node) {
  const NodeSignature signature = SignatureOf(graph, node, true);
  const std::string key = KeyOf(signature);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const Graph alone = Alone(graph, node);
  std::vector<KernelTiming> timings;
  std::optional<Error> refusal;
  for (const KernelChoice choice : ContestantsFor(signature)) {
    Result<KernelTiming> timing = TimeAlone(alone, choice, options_);
    if (!timing.has_value()) {
      refusal = std::move(timing).error();
    } else if (!IsKnown(timings, *timing)) {
      timings.push_back(*std::move(timing));
    }
  }
  if (timings.empty()) return tl::unexpected<Error>(*std::move(refusal));
  std::stable_sort(timings.begin(), timings.end(),
                   [](const auto& a, const auto& b) { return a.median_ns < b.median_ns; });
  known_.emplace(key, timings);
  return timings;
}

}  // namespace tinyprof
