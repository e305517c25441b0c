// A whole network by the oneDNN and the Eigen kernels, in one process and interleaved.
//
// Usage: onednn_vs_eigen [MODEL [rounds]]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "kernels/runtime/session.h"
#include "kernels/runtime/team.h"
#include "kernels/zoo/zoo.h"

namespace tinyprof {
namespace {

// CPU time of this thread: all here run on one, and other programs on the machine disturb it less.
double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double PassSeconds(Session& session) {
  const double start = ThreadSeconds();
  session.RunAll();
  return ThreadSeconds() - start;
}

// The quantile `q` of `values`.
double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

std::string Spread(const std::vector<double>& seconds) {
  return fmt::format("{:.2f} ms (quartiles {:.2f} to {:.2f}, best {:.2f})",
                     1e3 * Quantile(seconds, 0.5), 1e3 * Quantile(seconds, 0.25),
                     1e3 * Quantile(seconds, 0.75), 1e3 * Quantile(seconds, 0));
}

Result<std::unique_ptr<Session>> MakeSession(const Graph& graph, Backend backend) {
  return Session::Create(graph, {.backend = backend, .isa = HostIsas().back()});
}

Status Run(const std::string& model, int rounds) {
  TINYPROF_RETURN_IF_ERROR(PinTeam(UsableCores(), 1));
  TINYPROF_ASSIGN_OR_RETURN(const Graph graph, BuildZooModel(model, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const auto eigen, MakeSession(graph, Backend::kEigen));
  TINYPROF_ASSIGN_OR_RETURN(const auto onednn, MakeSession(graph, Backend::kOnednn));
  for (Session* session : {eigen.get(), onednn.get()}) session->RunAll();
  std::vector<double> eigen_seconds, onednn_seconds, ratios;
  for (int round = 0; round < rounds; ++round) {
    eigen_seconds.push_back(PassSeconds(*eigen));
    onednn_seconds.push_back(PassSeconds(*onednn));
    ratios.push_back(onednn_seconds.back() / eigen_seconds.back());
  }
  fmt::print("{} {}, 1 thread, {} rounds\n", model, Name(HostIsas().back()), rounds);
  fmt::print("eigen   {}\n", Spread(eigen_seconds));
  fmt::print("onednn  {}\n", Spread(onednn_seconds));
  fmt::print("onednn / eigen: median {:.3f} (quartiles {:.3f} to {:.3f})\n", Quantile(ratios, 0.5),
             Quantile(ratios, 0.25), Quantile(ratios, 0.75));
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
