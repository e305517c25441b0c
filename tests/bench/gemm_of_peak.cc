// Square matrix products of each backend as shares of the FMA peak: all in one process, a trial of
// each in turns with the loop that the peak is measured by.
//
// Usage: gemm_of_peak [rounds]
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/graph/graph_builder.h"
#include "kernels/probes/known_loops.h"
#include "kernels/runtime/layout_plan.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime/team.h"
#include "tests/bench/rounds_main.h"
#include "tests/bench/timing.h"

namespace tinyprof {
namespace {

// A trial lasts at least about as long as this many FLOPs.
constexpr int64_t kTrialFlops = 2'000'000'000;

using bench::Quantile;
using bench::ThreadSeconds;

// The fused multiply-add loop of the widest registers.
const FlopLoop* WidestFmaLoop() {
  const FlopLoop* widest = nullptr;
  for (const char* name :
       {"scalar_fma_float32", "avx2_fma_float32", "avx512_fma_float32", "neon_fma_float32"}) {
    const FlopLoop* loop = FindFlopLoop(name);
    if (loop != nullptr) widest = loop;
  }
  return widest;
}

double PeakFlopsPerSecond(const FlopLoop& loop) {
  const int64_t iterations = kTrialFlops / loop.flops_per_iteration();
  const double start = ThreadSeconds();
  loop.run(iterations);
  return static_cast<double>(iterations * loop.flops_per_iteration()) / (ThreadSeconds() - start);
}

// One matrix product, B known ahead as in a linear layer.
struct Contestant {
  std::string name;
  std::unique_ptr<LayoutPlan> plan;
  std::unique_ptr<Session> session;
  std::vector<double> flops_per_second = {};
  std::vector<double> shares = {};  // of the peak of the same round
};

Result<Contestant> Enter(int64_t n, Backend backend) {
  GraphBuilder builder("gemm", "layers");
  const ValueId a = builder.Input("a", {DType::kFloat32, {n, n}}, Fill::Uniform(1, 0));
  const ValueId b = builder.Weight("b", {n, n}, 1);
  TINYPROF_ASSIGN_OR_RETURN(Graph graph, std::move(builder).Finish({builder.Op("MatMul", {a, b})}));
  SessionOptions options{.backend = backend, .isa = HostIsas().back()};
  TINYPROF_ASSIGN_OR_RETURN(LayoutPlan plan, PlanLayouts(std::move(graph), options));
  options.layouts = plan.layouts;
  Contestant contestant{.name = std::string(Name(backend)),
                        .plan = std::make_unique<LayoutPlan>(std::move(plan)),
                        .session = nullptr};
  TINYPROF_ASSIGN_OR_RETURN(contestant.session, Session::Create(contestant.plan->graph, options));
  contestant.session->RunAll();
  return contestant;
}

Status Compare(int64_t n, const FlopLoop& loop, int rounds) {
  std::vector<Contestant> contestants;
  for (const Backend backend : {Backend::kEigen, Backend::kOnednn}) {
    Result<Contestant> contestant = Enter(n, backend);
    if (!contestant && contestant.error().reason == "NO_ONEDNN") continue;
    if (!contestant) return tl::unexpected(contestant.error());
    contestants.push_back(*std::move(contestant));
  }
  const int64_t flops = 2 * n * n * n;
  const int64_t repetitions = std::max<int64_t>(kTrialFlops / flops, 1);
  for (int round = 0; round < rounds; ++round) {
    const double peak = PeakFlopsPerSecond(loop);
    for (Contestant& contestant : contestants) {
      const double start = ThreadSeconds();
      for (int64_t i = 0; i < repetitions; ++i) contestant.session->RunAll();
      contestant.flops_per_second.push_back(static_cast<double>(repetitions * flops) /
                                            (ThreadSeconds() - start));
      contestant.shares.push_back(contestant.flops_per_second.back() / peak);
    }
  }
  for (const Contestant& contestant : contestants) {
    fmt::print("{:4}^3 {:8} {:7.1f} GFLOP/s, {:.3f} of peak (quartiles {:.3f} to {:.3f})\n", n,
               contestant.name, 1e-9 * Quantile(contestant.flops_per_second, 0.5),
               Quantile(contestant.shares, 0.5), Quantile(contestant.shares, 0.25),
               Quantile(contestant.shares, 0.75));
  }
  return {};
}

Status Run(int rounds) {
  TINYPROF_RETURN_IF_ERROR(PinTeam(UsableCores(), 1));
  const FlopLoop* loop = WidestFmaLoop();
  if (loop == nullptr) return Fail(ErrorCode::kUnavailable, "NO_FMA", "this CPU has no FMA");
  fmt::print("{}, 1 thread, {} rounds; peak by {}\n", Name(HostIsas().back()), rounds, loop->name);
  for (const int64_t n : {128, 256, 512, 1024, 2048}) {
    TINYPROF_RETURN_IF_ERROR(Compare(n, *loop, rounds));
  }
  return {};
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  return tinyprof::bench::RoundsMain(argc, argv, 15, tinyprof::Run);
}
