// A whole network by the oneDNN kernels (direct convolutions, then what the library holds for the
// fastest) and the Eigen kernels, in one process and interleaved.
//
// Usage: onednn_vs_eigen [MODEL [rounds]]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime/layout_plan.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime/team.h"
#include "kernels/zoo/zoo.h"
#include "tests/bench/timing.h"

namespace tinyprof {
namespace {

using bench::Quantile;
using bench::ThreadSeconds;

double PassSeconds(Session& session) {
  const double start = ThreadSeconds();
  session.RunAll();
  return ThreadSeconds() - start;
}

std::string Spread(const std::vector<double>& seconds) {
  return fmt::format("{:.2f} ms (quartiles {:.2f} to {:.2f}, best {:.2f})",
                     1e3 * Quantile(seconds, 0.5), 1e3 * Quantile(seconds, 0.25),
                     1e3 * Quantile(seconds, 0.75), 1e3 * Quantile(seconds, 0));
}

// A session with the graph that it runs.
struct Contestant {
  std::string name;
  std::unique_ptr<LayoutPlan> plan;
  std::unique_ptr<Session> session;
  std::vector<double> seconds = {};
  std::vector<double> ratios = {};  // to the first contestant, round by round
};

Result<Contestant> Enter(const std::string& name, const Graph& graph, SessionOptions options) {
  TINYPROF_ASSIGN_OR_RETURN(LayoutPlan plan, PlanLayouts(graph, options));
  options.layouts = plan.layouts;
  Contestant contestant{
      .name = name, .plan = std::make_unique<LayoutPlan>(std::move(plan)), .session = nullptr};
  TINYPROF_ASSIGN_OR_RETURN(contestant.session, Session::Create(contestant.plan->graph, options));
  contestant.session->RunAll();
  return contestant;
}

Status Run(const std::string& model, int rounds) {
  TINYPROF_RETURN_IF_ERROR(PinTeam(UsableCores(), 1));
  TINYPROF_ASSIGN_OR_RETURN(const Graph graph, BuildZooModel(model, 1, 1));
  const Isa isa = HostIsas().back();
  std::vector<Contestant> contestants;
  const auto enter = [&](const std::string& name, Backend backend,
                         ConvAlgorithm algorithm) -> Status {
    TINYPROF_ASSIGN_OR_RETURN(
        Contestant contestant,
        Enter(name, graph,
              {.backend = backend, .isa = isa, .conv_algorithm = algorithm, .layouts = {}}));
    contestants.push_back(std::move(contestant));
    return {};
  };
  TINYPROF_RETURN_IF_ERROR(enter("eigen", Backend::kEigen, ConvAlgorithm::kDirect));
  TINYPROF_RETURN_IF_ERROR(enter("onednn direct", Backend::kOnednn, ConvAlgorithm::kDirect));
  TINYPROF_RETURN_IF_ERROR(enter("onednn winograd", Backend::kOnednn, ConvAlgorithm::kWinograd));
  TINYPROF_RETURN_IF_ERROR(enter("onednn auto", Backend::kOnednn, ConvAlgorithm::kAuto));
  for (int round = 0; round < rounds; ++round) {
    for (Contestant& contestant : contestants) {
      contestant.seconds.push_back(PassSeconds(*contestant.session));
      contestant.ratios.push_back(contestant.seconds.back() / contestants[0].seconds.back());
    }
  }
  fmt::print("{} {}, 1 thread, {} rounds\n", model, Name(isa), rounds);
  for (const Contestant& contestant : contestants) {
    fmt::print("{:15} {}; to eigen {:.3f} (quartiles {:.3f} to {:.3f})\n", contestant.name,
               Spread(contestant.seconds), Quantile(contestant.ratios, 0.5),
               Quantile(contestant.ratios, 0.25), Quantile(contestant.ratios, 0.75));
  }
  return {};
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  const std::string model = argc > 1 ? argv[1] : "resnet18";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 25;
  if (rounds < 1) {
    fmt::print(stderr, "usage: {} [MODEL [rounds of at least 1]]\n", argv[0]);
    return 2;
  }
  const tinyprof::Status done = tinyprof::Run(model, rounds);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message);
  return 1;
}
