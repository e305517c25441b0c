// Single layers in float32 and on 8-bit integers by the Eigen kernels, in one process and
// interleaved: the maxima after resnet18's stem, and depthwise convolutions of 3 x 3.
//
// Usage: int8_layers_vs_float [rounds]
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/graph/graph_builder.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime/team.h"
#include "tests/bench/rounds_main.h"
#include "tests/bench/timing.h"

namespace tinyprof {
namespace {

using bench::Quantile;
using bench::ThreadSeconds;
using Ints = std::vector<int64_t>;

struct Layer {
  bool is_pool = false;
  int64_t channels = 0;
  int64_t size = 0;
  int64_t stride = 1;
};

Fill Bytes(int64_t count, int seed) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (int64_t i = 0; i < count; ++i) {
    bytes->push_back(static_cast<std::byte>((i * 31 + seed * 17) % 251));
  }
  return {.kind = Fill::Kind::kData, .data = std::move(bytes)};
}

Result<Graph> GraphOf(const Layer& layer, bool is_int8) {
  GraphBuilder builder("layer", "layers");
  const Shape shape = {1, layer.channels, layer.size, layer.size};
  const Fill fill = is_int8 ? Bytes(shape.element_count(), 1) : Fill::Uniform(1, 1);
  const ValueId x = builder.Input("x", {is_int8 ? DType::kUInt8 : DType::kFloat32, shape}, fill);
  Attributes attributes = {{"pads", Ints{1, 1, 1, 1}},
                           {"strides", Ints{layer.stride, layer.stride}}};
  if (layer.is_pool) {
    attributes["kernel_shape"] = Ints{3, 3};
    return std::move(builder).Finish({builder.Op("MaxPool", {x}, attributes)});
  }
  attributes["group"] = layer.channels;
  const Shape weights = {layer.channels, 1, 3, 3};
  if (!is_int8) {
    const ValueId w = builder.Parameter("w", {DType::kFloat32, weights}, Fill::Uniform(0.05, 1));
    return std::move(builder).Finish({builder.Op("Conv", {x, w}, attributes)});
  }
  const auto scalar = [&](const std::string& name, DType dtype, const Fill& of) {
    return builder.Parameter(name, {dtype, Shape()}, of);
  };
  const ValueId w =
      builder.Parameter("w", {DType::kInt8, weights}, Bytes(weights.element_count(), 2));
  const ValueId y = builder.Op("QLinearConv",
                               {x, scalar("xs", DType::kFloat32, Fill::Float32s({0.02F})),
                                scalar("xz", DType::kUInt8, Bytes(1, 1)), w,
                                scalar("ws", DType::kFloat32, Fill::Float32s({0.01F})),
                                scalar("wz", DType::kInt8, Bytes(1, 0)),
                                scalar("ys", DType::kFloat32, Fill::Float32s({0.05F})),
                                scalar("yz", DType::kUInt8, Bytes(1, 1))},
                               attributes);
  return std::move(builder).Finish({y});
}

struct Contestant {
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Session> session;
  std::vector<double> seconds = {};
};

Result<Contestant> Enter(const Layer& layer, bool is_int8) {
  TINYPROF_ASSIGN_OR_RETURN(Graph graph, GraphOf(layer, is_int8));
  Contestant contestant{.graph = std::make_unique<Graph>(std::move(graph)), .session = nullptr};
  TINYPROF_ASSIGN_OR_RETURN(
      contestant.session,
      Session::Create(*contestant.graph, {.backend = Backend::kEigen, .isa = HostIsas().back()}));
  contestant.session->FillInputs();
  contestant.session->RunAll();
  return contestant;
}

Status Compare(const Layer& layer, int rounds) {
  std::vector<Contestant> contestants;
  for (const bool is_int8 : {false, true}) {
    TINYPROF_ASSIGN_OR_RETURN(Contestant contestant, Enter(layer, is_int8));
    contestants.push_back(std::move(contestant));
  }
  for (int round = 0; round < rounds; ++round) {
    for (Contestant& contestant : contestants) {
      const double start = ThreadSeconds();
      contestant.session->RunAll();
      contestant.seconds.push_back(ThreadSeconds() - start);
    }
  }
  fmt::print("{:9} {:3}x{:3}x{:3} stride {}: float32 {:8.1f} us, int8 {:8.1f} us by {}\n",
             layer.is_pool ? "maxima" : "depthwise", layer.channels, layer.size, layer.size,
             layer.stride, 1e6 * Quantile(contestants[0].seconds, 0.5),
             1e6 * Quantile(contestants[1].seconds, 0.5),
             contestants[1].session->kernel(0).implementation());
  return {};
}

Status Run(int rounds) {
  TINYPROF_RETURN_IF_ERROR(PinTeam(UsableCores(), 1));
  fmt::print("3 x 3 layers, {}, 1 thread, medians of {} rounds\n", Name(HostIsas().back()), rounds);
  TINYPROF_RETURN_IF_ERROR(
      Compare({.is_pool = true, .channels = 64, .size = 112, .stride = 2}, rounds));
  for (const auto& [channels, size] :
       {std::pair{int64_t{32}, int64_t{112}}, {64, 56}, {128, 56}, {256, 28}, {512, 14}}) {
    for (const int64_t stride : {1, 2}) {
      TINYPROF_RETURN_IF_ERROR(
          Compare({.channels = channels, .size = size, .stride = stride}, rounds));
    }
  }
  return {};
}

}  // namespace
}  // namespace tinyprof

int main(int argc, char** argv) {
  return tinyprof::bench::RoundsMain(argc, argv, 25, tinyprof::Run);
}
