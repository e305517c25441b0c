// Our matrix product beside a plain Eigen program compiled for this machine, in one process and
// interleaved, and how close the convolutions of ResNet-18 come to it.
//
// Usage: gemm_vs_plain_eigen [rounds]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kernels/graph/graph_builder.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime/team.h"
#include "tests/bench/plain_eigen.h"
#include "tests/bench/timing.h"

namespace tinyprof {
namespace {

using bench::Quantile;
using bench::ThreadSeconds;

template <class Work>
double Seconds(const Work& work) {
  const double start = ThreadSeconds();
  work();
  return ThreadSeconds() - start;
}

Graph MatmulGraph(int64_t n) {
  GraphBuilder builder("gemm", "layers");
  const ValueId a = builder.Input("a", {DType::kFloat32, {n, n}}, Fill::Uniform(1, 0));
  const ValueId b = builder.Weight("b", {n, n}, 1);
  const ValueId c = builder.Op("MatMul", {a, b});
  return *std::move(builder).Finish({c});
}

void CompareGemm(int64_t n, Isa isa, int rounds) {
  const Graph graph = MatmulGraph(n);
  const auto session = *Session::Create(graph, {.backend = Backend::kEigen, .isa = isa});
  std::vector<float> a(static_cast<size_t>(n * n), 0.5F), b(a), c(a);
  const auto plain = [&] { bench::PlainEigenGemm(a.data(), b.data(), c.data(), n); };
  const auto ours = [&] { session->RunNode(0); };
  plain();
  ours();
  std::vector<double> plain_seconds, our_seconds, ratios;
  for (int round = 0; round < rounds; ++round) {
    plain_seconds.push_back(Seconds(plain));
    our_seconds.push_back(Seconds(ours));
    ratios.push_back(plain_seconds.back() / our_seconds.back());
  }
  const double gflop = 2e-9 * static_cast<double>(n * n * n);
  fmt::print(
      "gemm {:4}^3 {:8}  ours {:6.1f}  plain Eigen {:6.1f} GFLOP/s  speed ratio median {:.3f} "
      "(quartiles {:.3f} to {:.3f})\n",
      n, Name(isa), gflop / Quantile(our_seconds, 0.5), gflop / Quantile(plain_seconds, 0.5),
      Quantile(ratios, 0.5), Quantile(ratios, 0.25), Quantile(ratios, 0.75));
}

struct ConvCase {
  int64_t in, out, size, kernel, stride;
};

void RunConv(const ConvCase& conv, Isa isa, int rounds) {
  GraphBuilder builder("conv", "layers");
  const int64_t pad = conv.kernel / 2;
  const ValueId x = builder.Input("x", {DType::kFloat32, {1, conv.in, conv.size, conv.size}},
                                  Fill::Uniform(1, 0));
  const ValueId w = builder.Weight("w", {conv.out, conv.in, conv.kernel, conv.kernel}, 1);
  const ValueId y = builder.Op("Conv", {x, w},
                               {{"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                                {"strides", std::vector<int64_t>{conv.stride, conv.stride}}});
  const Shape output = builder.type(y).shape;
  const Graph graph = *std::move(builder).Finish({y});
  const auto session = *Session::Create(graph, {.backend = Backend::kEigen, .isa = isa});
  session->RunNode(0);
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round)
    seconds.push_back(Seconds([&] { session->RunNode(0); }));
  const double gflop =
      2e-9 * static_cast<double>(output.element_count() * conv.in * conv.kernel * conv.kernel);
  fmt::print("conv {:3}->{:3} {}x{} s{} {:3}^2 {:8} {:6.1f} GFLOP/s (best {:.1f})\n", conv.in,
             conv.out, conv.kernel, conv.kernel, conv.stride, conv.size, Name(isa),
             gflop / Quantile(seconds, 0.5), gflop / Quantile(seconds, 0));
}

void Run(int rounds) {
  (void)PinTeam(UsableCores(), 1);
  for (const int64_t n : {256, 512, 1024, 2048}) CompareGemm(n, HostIsas().back(), rounds);
  for (const Isa isa : HostIsas()) CompareGemm(1024, isa, rounds);
  for (const ConvCase& conv :
       {ConvCase{3, 64, 224, 7, 2}, ConvCase{64, 64, 56, 3, 1}, ConvCase{64, 128, 56, 3, 2},
        ConvCase{128, 128, 28, 3, 1}, ConvCase{64, 128, 56, 1, 2}, ConvCase{256, 256, 14, 3, 1},
        ConvCase{512, 512, 7, 3, 1}}) {
    RunConv(conv, HostIsas().back(), rounds);
  }
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  if (rounds < 1) {
    fmt::print(stderr, "usage: {} [rounds of at least 1]\n", argv[0]);
    return 2;
  }
  tinyprof::Run(rounds);
  return 0;
}
