#include "kernels/runtime/best_plan.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/ops/onednn_kernels.h"
#include "kernels/runtime/layout_plan.h"

namespace tinyprof {
namespace {

using Clock = std::chrono::steady_clock;
using Choices = std::vector<KernelChoice>;
using Timings = std::vector<std::vector<KernelTiming>>;  // by node

constexpr int kPasses = 7;
constexpr std::chrono::milliseconds kLongest{500};  // of all passes of a plan

bool IsOnednn(const KernelTiming& timing) { return timing.choice.backend == Backend::kOnednn; }

// The fastest of a node's kernels that `may_be`; the fastest of all where none may.
template <class Predicate>
const KernelTiming& FastestOf(const std::vector<KernelTiming>& timings, Predicate may_be) {
  const auto found = std::find_if(timings.begin(), timings.end(), may_be);
  return found == timings.end() ? timings.front() : *found;
}

template <class Predicate>
Choices FastestOfEach(const Timings& timings, Predicate may_be) {
  Choices choices;
  for (const auto& of_node : timings) choices.push_back(FastestOf(of_node, may_be).choice);
  return choices;
}

// The nodes that make or read what each node reads or makes.
std::vector<std::vector<size_t>> NeighboursOf(const Graph& graph) {
  std::vector<std::vector<size_t>> neighbours(graph.nodes.size());
  std::map<ValueId, size_t> makers;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].inputs) {
      const auto maker = makers.find(id);
      if (maker == makers.end()) continue;
      neighbours[n].push_back(maker->second);
      neighbours[maker->second].push_back(n);
    }
    for (const ValueId id : graph.nodes[n].outputs) makers[id] = n;
  }
  return neighbours;
}

Choices WithoutLonelyOnednn(const Graph& graph, const Timings& timings, const Choices& fastest) {
  const auto neighbours = NeighboursOf(graph);
  Choices choices = fastest;
  for (size_t n = 0; n < choices.size(); ++n) {
    const KernelTiming& best = timings[n].front();
    if (!IsOnednn(best)) continue;
    const KernelTiming& other =
        FastestOf(timings[n], [](const KernelTiming& timing) { return !IsOnednn(timing); });
    const bool pays = best.median_ns + best.reorder_ns < other.median_ns;
    const bool among_its_own =
        std::all_of(neighbours[n].begin(), neighbours[n].end(),
                    [&](size_t m) { return fastest[m].backend == Backend::kOnednn; });
    if (!pays && !among_its_own) choices[n] = other.choice;
  }
  return choices;
}

std::vector<Choices> PlansFor(const Graph& graph, const Timings& timings) {
  const Choices fastest = FastestOfEach(timings, [](const KernelTiming&) { return true; });
  std::vector<Choices> plans;
  for (Choices& plan : std::vector<Choices>{
           FastestOfEach(timings, [](const KernelTiming& timing) { return !IsOnednn(timing); }),
           FastestOfEach(timings, IsOnednn), fastest,
           WithoutLonelyOnednn(graph, timings, fastest)}) {
    if (std::find(plans.begin(), plans.end(), plan) == plans.end()) plans.push_back(plan);
  }
  return plans;
}

Result<RunPlan> LayOut(const Graph& graph, SessionOptions options, Choices choices) {
  options.choices = std::move(choices);
  TINYPROF_ASSIGN_OR_RETURN(LayoutPlan plan, PlanLayouts(graph, options));
  options.choices = std::move(plan.choices);
  options.layouts = std::move(plan.layouts);
  return RunPlan{std::move(plan.graph), std::move(options), {}};
}

Result<double> FastestPassNs(const RunPlan& plan) {
  TINYPROF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                            Session::Create(plan.graph, plan.options));
  session->RunAll();
  double fastest_ns = std::numeric_limits<double>::infinity();
  const Clock::time_point end = Clock::now() + kLongest;
  for (int pass = 0; pass == 0 || (pass < kPasses && Clock::now() < end); ++pass) {
    const Clock::time_point start = Clock::now();
    session->RunAll();
    fastest_ns = std::min(fastest_ns,
                          std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return fastest_ns;
}

// By node of the graph that was laid out; those that it was made from keep their names.
Timings TimingsOf(const Graph& laid_out, const Graph& graph, const Timings& timings) {
  std::map<std::string_view, size_t> by_name;
  for (size_t n = 0; n < graph.nodes.size(); ++n) by_name.emplace(graph.nodes[n].name, n);
  Timings result;
  for (const Node& node : laid_out.nodes) {
    const auto found = by_name.find(node.name);
    result.push_back(found == by_name.end() ? std::vector<KernelTiming>() : timings[found->second]);
  }
  return result;
}

}  // namespace

Result<RunPlan> PlanBest(const Graph& graph, const SessionOptions& asked) {
  SessionOptions options = asked;
  options.backend = Backend::kBest;
  const bool onednn = options.threads <= kMaxOnednnThreads && CheckOnednnIsBuilt().has_value();
  if (onednn) TINYPROF_RETURN_IF_ERROR(PrepareOnednn(options.isa));
  KernelRace race(options, onednn);
  Timings timings;
  for (const Node& node : graph.nodes) {
    TINYPROF_ASSIGN_OR_RETURN(std::vector<KernelTiming> of_node, race.Of(graph, node));
    timings.push_back(std::move(of_node));
  }
  std::optional<RunPlan> best;
  double best_ns = std::numeric_limits<double>::infinity();
  for (Choices& choices : PlansFor(graph, timings)) {
    TINYPROF_ASSIGN_OR_RETURN(RunPlan plan, LayOut(graph, options, std::move(choices)));
    TINYPROF_ASSIGN_OR_RETURN(const double pass_ns, FastestPassNs(plan));
    if (pass_ns >= best_ns && best) continue;
    best_ns = pass_ns;
    best = std::move(plan);
  }
  best->timings = TimingsOf(best->graph, graph, timings);
  return *std::move(best);
}

}  // namespace tinyprof
