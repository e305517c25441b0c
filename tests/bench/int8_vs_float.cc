// The convolutions of resnet18's blocks one after the other, in float32 and on 8-bit integers, by
// the Eigen and the oneDNN kernels, in one process and interleaved.
//
// Usage: int8_vs_float [rounds]
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/graph/graph_builder.h"
#include "kernels/runtime/layout_plan.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime/team.h"
#include "tests/bench/rounds_main.h"
#include "tests/bench/timing.h"

namespace tinyprof {
namespace {

using bench::Quantile;
using bench::ThreadSeconds;

Fill Bytes(int64_t count, int seed) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (int64_t i = 0; i < count; ++i) {
    bytes->push_back(static_cast<std::byte>((i * 31 + seed * 17) % 251));
  }
  return {.kind = Fill::Kind::kData, .data = std::move(bytes)};
}

// Adds one convolution after another to a graph, which is in float32 or on 8-bit integers.
class Chain {
 public:
  explicit Chain(bool is_int8) : is_int8_(is_int8), builder_("chain", "layers") {
    const Shape shape = {1, 64, 56, 56};
    const DType dtype = is_int8 ? DType::kUInt8 : DType::kFloat32;
    const Fill fill = is_int8 ? Bytes(shape.element_count(), 1) : Fill::Uniform(1, 1);
    y_ = builder_.Input("x", {dtype, shape}, fill);
  }

  void Add(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    const Shape shape = {out, in, kernel, kernel};
    const int64_t pad = kernel / 2;
    const Attributes attributes = {{"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                                   {"strides", std::vector<int64_t>{stride, stride}}};
    const std::string name = fmt::format("conv{}", count_++);
    if (!is_int8_) {
      const ValueId w =
          builder_.Parameter(name + ".w", {DType::kFloat32, shape}, Fill::Uniform(0.05, 1));
      y_ = builder_.Op("Relu", {builder_.Op("Conv", {y_, w}, attributes)});
      return;
    }
    const auto scalar = [&](const std::string& of, DType dtype, const Fill& fill) {
      return builder_.Parameter(name + of, {dtype, Shape()}, fill);
    };
    const ValueId w =
        builder_.Parameter(name + ".w", {DType::kInt8, shape}, Bytes(shape.element_count(), 2));
    const ValueId scales =
        builder_.Parameter(name + ".scales", {DType::kFloat32, Shape{out}},
                           Fill::Float32s(std::vector<float>(static_cast<size_t>(out), 0.001F)));
    y_ = builder_.Op("QLinearConv",
                     {y_, scalar(".xs", DType::kFloat32, Fill::Float32s({0.02F})),
                      scalar(".xz", DType::kUInt8, Bytes(1, 0)), w, scales,
                      scalar(".wz", DType::kInt8, Bytes(1, 0)),
                      scalar(".ys", DType::kFloat32, Fill::Float32s({0.05F})),
                      scalar(".yz", DType::kUInt8, Bytes(1, 0))},
                     attributes);
  }

  Result<Graph> Finish() && { return std::move(builder_).Finish({y_}); }

 private:
  bool is_int8_;
  GraphBuilder builder_;
  ValueId y_ = kNoValue;
  int count_ = 0;
};

Result<Graph> ResnetBlocks(bool is_int8) {
  Chain chain(is_int8);
  for (int i = 0; i < 4; ++i) chain.Add(64, 64, 3, 1);
  for (const int64_t channels : {128, 256, 512}) {
    chain.Add(channels / 2, channels, 3, 2);
    for (int i = 0; i < 3; ++i) chain.Add(channels, channels, 3, 1);
  }
  return std::move(chain).Finish();
}

struct Contestant {
  std::string name;
  std::unique_ptr<LayoutPlan> plan;
  std::unique_ptr<Session> session;
  std::vector<double> seconds = {};
};

Result<Contestant> Enter(const std::string& name, bool is_int8, Backend backend) {
  TINYPROF_ASSIGN_OR_RETURN(Graph graph, ResnetBlocks(is_int8));
  SessionOptions options{.backend = backend, .isa = HostIsas().back()};
  TINYPROF_ASSIGN_OR_RETURN(LayoutPlan plan, PlanLayouts(std::move(graph), options));
  options.layouts = plan.layouts;
  Contestant contestant{
      .name = name, .plan = std::make_unique<LayoutPlan>(std::move(plan)), .session = nullptr};
  TINYPROF_ASSIGN_OR_RETURN(contestant.session, Session::Create(contestant.plan->graph, options));
  contestant.session->FillInputs();
  contestant.session->RunAll();
  return contestant;
}

Status Run(int rounds) {
  TINYPROF_RETURN_IF_ERROR(PinTeam(UsableCores(), 1));
  std::vector<Contestant> contestants;
  for (const Backend backend : {Backend::kEigen, Backend::kOnednn}) {
    for (const bool is_int8 : {false, true}) {
      const std::string name = fmt::format("{} {}", backend == Backend::kEigen ? "eigen" : "onednn",
                                           is_int8 ? "int8" : "float32");
      TINYPROF_ASSIGN_OR_RETURN(Contestant contestant, Enter(name, is_int8, backend));
      contestants.push_back(std::move(contestant));
    }
  }
  for (int round = 0; round < rounds; ++round) {
    for (Contestant& contestant : contestants) {
      const double start = ThreadSeconds();
      contestant.session->RunAll();
      contestant.seconds.push_back(ThreadSeconds() - start);
    }
  }
  fmt::print("resnet18's blocks, {}, 1 thread, {} rounds\n", Name(HostIsas().back()), rounds);
  for (const Contestant& contestant : contestants) {
    fmt::print("{:15} {:6.2f} ms (quartiles {:.2f} to {:.2f}); first layer by {}\n",
               contestant.name, 1e3 * Quantile(contestant.seconds, 0.5),
               1e3 * Quantile(contestant.seconds, 0.25), 1e3 * Quantile(contestant.seconds, 0.75),
               contestant.session->kernel(0).implementation());
  }
  return {};
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  return tinyprof::bench::RoundsMain(argc, argv, 25, tinyprof::Run);
}
