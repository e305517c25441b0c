#include "tests/unit/kernels/op_test_util.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/graph/graph_builder.h"
#include "kernels/ops/eigen_kernels.h"
#include "kernels/ops/op.h"
#include "kernels/tensor/buffer.h"
#include "tests/unit/kernels/counted.h"

namespace tinyprof {
namespace {

constexpr size_t kGuardBytes = 256;
constexpr auto kGuard = std::byte{0xA5};

// Memory between two guards; Check() says whether anybody wrote there.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t byte_size) : byte_size_(byte_size) {
    Result<Buffer> buffer = Buffer::Create(static_cast<int64_t>(byte_size + 2 * kGuardBytes));
    EXPECT_TRUE(buffer.has_value());
    buffer_ = *std::move(buffer);
    std::memset(buffer_.data(), static_cast<int>(kGuard), byte_size + 2 * kGuardBytes);
  }
  std::byte* data() { return buffer_.data() + kGuardBytes; }
  const std::byte* data() const { return buffer_.data() + kGuardBytes; }
  size_t byte_size() const { return byte_size_; }
  void Set(int value) { std::memset(data(), value, byte_size_); }
  bool intact() const {
    for (size_t i = 0; i < kGuardBytes; ++i) {
      if (buffer_.data()[i] != kGuard || data()[byte_size_ + i] != kGuard) return false;
    }
    return true;
  }

 private:
  size_t byte_size_;
  Buffer buffer_;
};

// A graph of the one node, the elements of its operands, and its signature.
struct Prepared {
  Graph graph;
  std::vector<std::vector<std::byte>> operands;
  NodeSignature signature;
};

Result<Graph> BuildGraph(const OpCase& op_case) {
  GraphBuilder builder("case", "layers");
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const OpCase::In& in = op_case.inputs[i];
    const std::string name = fmt::format("in{}", i);
    // Two operands of the same fill must not hold the same numbers.
    Fill fill = in.fill;
    fill.seed ^= i + 1;
    if (!in.present) {
      inputs.push_back(kNoValue);
    } else if (in.is_weight) {
      inputs.push_back(builder.Parameter(name, in.type, fill));
    } else {
      inputs.push_back(builder.Input(name, in.type, fill));
    }
  }
  const std::vector<ValueId> outputs =
      builder.MultiOp(op_case.op_type, inputs, op_case.output_count, op_case.attributes);
  return std::move(builder).Finish(outputs);
}

// Points the signature at the initializers' elements, as a session does.
void BindSignature(Prepared& prepared) {
  prepared.signature = SignatureOf(prepared.graph, prepared.graph.nodes[0], true);
  for (size_t i = 0; i < prepared.signature.inputs.size(); ++i) {
    NodeSignature::Input& input = prepared.signature.inputs[i];
    if (input.is_weight) input.data = prepared.operands[i].data();
  }
}

std::unique_ptr<Prepared> Prepare(const OpCase& op_case) {
  Result<Graph> graph = BuildGraph(op_case);
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return nullptr;
  }
  auto prepared = std::make_unique<Prepared>();
  prepared->graph = *std::move(graph);
  for (const ValueId id : prepared->graph.nodes[0].inputs) {
    std::vector<std::byte>& operand = prepared->operands.emplace_back();
    if (id == kNoValue) continue;
    const Value& value = prepared->graph.value(id);
    operand.resize(static_cast<size_t>(value.type.byte_size()) + 1);
    Materialize(value.fill, value.type.dtype, 0, value.type.shape.element_count(), operand.data());
  }
  BindSignature(*prepared);
  return prepared;
}

template <class To>
std::vector<To> Convert(DType dtype, const void* data, int64_t count) {
  std::vector<To> out(static_cast<size_t>(count));
  const auto copy = [&](const auto* elements) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(elements[i]);
  };
  switch (dtype) {
    case DType::kFloat32:
      copy(static_cast<const float*>(data));
      break;
    case DType::kFloat64:
      copy(static_cast<const double*>(data));
      break;
    case DType::kInt8:
      copy(static_cast<const int8_t*>(data));
      break;
    case DType::kInt32:
      copy(static_cast<const int32_t*>(data));
      break;
    case DType::kInt64:
      copy(static_cast<const int64_t*>(data));
      break;
    case DType::kUInt8:
    case DType::kBool:
      copy(static_cast<const uint8_t*>(data));
      break;
    case DType::kFloat16:
    case DType::kBFloat16:
      copy(static_cast<const uint16_t*>(data));
      break;
  }
  return out;
}

// The same case with float64 for float32 and the same elements (their absolute values on request).
OpCase Widened(const OpCase& op_case, const Prepared& prepared, bool absolute) {
  OpCase wide = op_case;
  for (size_t i = 0; i < wide.inputs.size(); ++i) {
    OpCase::In& in = wide.inputs[i];
    if (!in.present) continue;
    std::vector<std::byte> bytes = prepared.operands[i];
    if (in.type.dtype == DType::kFloat32) {
      std::vector<double> elements =
          Convert<double>(DType::kFloat32, bytes.data(), in.type.shape.element_count());
      for (double& element : elements) element = absolute ? std::fabs(element) : element;
      in.type.dtype = DType::kFloat64;
      bytes.resize(elements.size() * sizeof(double) + 1);
      if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size() - 1);
    }
    in.fill = {.kind = Fill::Kind::kData,
               .data = std::make_shared<const std::vector<std::byte>>(std::move(bytes))};
  }
  for (auto& [name, attribute] : wide.attributes) {
    float* value = std::get_if<float>(&attribute);
    if (value != nullptr && absolute) *value = std::fabs(*value);
  }
  return wide;
}

using Outputs = std::vector<std::unique_ptr<GuardedMemory>>;

std::vector<ConstTensorView> InputViews(const Prepared& prepared) {
  std::vector<ConstTensorView> views;
  for (size_t i = 0; i < prepared.operands.size(); ++i) {
    const bool present = prepared.signature.inputs[i].present;
    views.push_back({.type = prepared.signature.inputs[i].type,
                     .data = present ? prepared.operands[i].data() : nullptr});
  }
  return views;
}

// Runs `run` on outputs and scratch that are filled with `fill_byte` before.
template <class Run>
Outputs RunOnce(const Prepared& prepared, int64_t scratch_bytes, int fill_byte, const Run& run) {
  Outputs outputs;
  std::vector<TensorView> views;
  for (const TensorType& type : prepared.signature.outputs) {
    outputs.push_back(std::make_unique<GuardedMemory>(static_cast<size_t>(type.byte_size())));
    outputs.back()->Set(fill_byte);
    views.push_back({.type = type, .data = outputs.back()->data()});
  }
  GuardedMemory scratch(static_cast<size_t>(scratch_bytes));
  scratch.Set(fill_byte);
  const std::vector<ConstTensorView> inputs = InputViews(prepared);
  run(KernelArgs{.inputs = inputs,
                 .outputs = views,
                 .scratch = {scratch.data(), static_cast<size_t>(scratch_bytes)}});
  EXPECT_TRUE(scratch.intact()) << "wrote beyond the scratch";
  for (const auto& output : outputs) EXPECT_TRUE(output->intact()) << "wrote beyond an output";
  return outputs;
}

// Runs twice, over memory of 0xFF and of 0: the same bytes come out only if all of them are
// written.
std::optional<Outputs> RunTwice(const Prepared& prepared, KernelFactory factory, int threads) {
  const Result<std::unique_ptr<Kernel>> kernel = factory(prepared.signature, {.threads = threads});
  if (!kernel) {
    ADD_FAILURE() << kernel.error().message;
    return std::nullopt;
  }
  const auto run = [&](const KernelArgs& args) { (*kernel)->Run(args); };
  Outputs first = RunOnce(prepared, (*kernel)->scratch_bytes(), 0xFF, run);
  const Outputs second = RunOnce(prepared, (*kernel)->scratch_bytes(), 0, run);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(std::memcmp(first[i]->data(), second[i]->data(), first[i]->byte_size()), 0)
        << "output " << i << " differs between two runs, or is not written whole";
  }
  return first;
}

std::vector<double> Doubles(const Prepared& prepared, const Outputs& outputs, size_t index) {
  const TensorType& type = prepared.signature.outputs[index];
  return Convert<double>(type.dtype, outputs[index]->data(), type.shape.element_count());
}

// The truth and how far from it a kernel may be.
struct Truth {
  std::unique_ptr<Prepared> prepared;
  Outputs outputs;
  std::vector<std::vector<double>> bounds;
};

std::optional<Truth> MakeTruth(const OpCase& op_case, const Prepared& narrow) {
  const auto run_wide = [&](bool absolute) -> std::optional<Truth> {
    Truth truth{
        .prepared = Prepare(Widened(op_case, narrow, absolute)), .outputs = {}, .bounds = {}};
    if (!truth.prepared) return std::nullopt;
    std::optional<Outputs> outputs =
        RunTwice(*truth.prepared, FindOperator(op_case.op_type)->reference_f64, 1);
    if (!outputs) return std::nullopt;
    truth.outputs = *std::move(outputs);
    return truth;
  };
  std::optional<Truth> truth = run_wide(false);
  if (!truth) return std::nullopt;
  const std::optional<Truth> magnitude = op_case.dot_length > 0 ? run_wide(true) : std::nullopt;
  for (size_t i = 0; i < truth->outputs.size(); ++i) {
    std::vector<double> bounds = Doubles(*truth->prepared, truth->outputs, i);
    for (double& bound : bounds) bound = op_case.tolerance * (1 + std::fabs(bound));
    if (magnitude) {
      bounds = Doubles(*magnitude->prepared, magnitude->outputs, i);
      for (double& bound : bounds) bound *= static_cast<double>(op_case.dot_length + 4) * 0x1p-23;
    }
    truth->bounds.push_back(std::move(bounds));
  }
  return truth;
}

bool Agrees(double got, double want, double bound) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= bound;
}

void CompareOutputs(const Prepared& prepared, const Outputs& got, const Truth& truth) {
  for (size_t i = 0; i < got.size(); ++i) {
    const DType dtype = prepared.signature.outputs[i].dtype;
    const bool exact = dtype != DType::kFloat32 && dtype != DType::kFloat64;
    const std::vector<double> got_values = Doubles(prepared, got, i);
    const std::vector<double> want_values = Doubles(*truth.prepared, truth.outputs, i);
    ASSERT_EQ(got_values.size(), want_values.size());
    for (size_t k = 0; k < got_values.size(); ++k) {
      ASSERT_TRUE(Agrees(got_values[k], want_values[k], exact ? 0 : truth.bounds[i][k]))
          << "output " << i << " element " << k << ": got " << got_values[k] << ", want "
          << want_values[k] << ", bound " << truth.bounds[i][k];
    }
  }
}

void CheckKernel(const Prepared& prepared, const Truth& truth, KernelFactory factory, int threads) {
  const std::optional<Outputs> outputs = RunTwice(prepared, factory, threads);
  if (outputs) CompareOutputs(prepared, *outputs, truth);
}

}  // namespace

OpCase::In Activation(Shape shape, double bound) {
  return {.type = {DType::kFloat32, std::move(shape)}, .fill = Fill::Uniform(bound, 0)};
}

OpCase::In WeightOf(Shape shape, double bound) {
  return {.type = {DType::kFloat32, std::move(shape)},
          .fill = Fill::Uniform(bound, 0),
          .is_weight = true};
}

OpCase::In FloatsOf(Shape shape, const std::vector<float>& elements, bool is_weight) {
  return {.type = {DType::kFloat32, std::move(shape)},
          .fill = Fill::Float32s(elements),
          .is_weight = is_weight};
}

OpCase::In IntsOf(const std::vector<int64_t>& elements) {
  return {.type = {DType::kInt64, Shape{static_cast<int64_t>(elements.size())}},
          .fill = Fill::Int64s(elements),
          .is_weight = true};
}

OpCase::In Omitted() { return {.type = {}, .fill = {}, .present = false}; }

void CheckOp(const OpCase& op_case) {
  SCOPED_TRACE(op_case.op_type);
  const std::unique_ptr<Prepared> prepared = Prepare(op_case);
  if (!prepared) return;
  const std::optional<Truth> truth = MakeTruth(op_case, *prepared);
  if (!truth) return;
  {
    SCOPED_TRACE("naive float kernel");
    CheckKernel(*prepared, *truth, FindOperator(op_case.op_type)->reference, 1);
  }
  for (const Isa isa : HostIsas()) {
    const KernelFactory factory = FindEigenKernel(isa, op_case.op_type);
    EXPECT_EQ(factory != nullptr, op_case.has_eigen_kernel) << Name(isa);
    if (factory == nullptr) continue;
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(fmt::format("Eigen kernel, {}, {} threads", Name(isa), threads));
      CheckKernel(*prepared, *truth, factory, threads);
    }
  }
}

void CheckCounts(const OpCase& op_case, ReferenceFn counted, Executes executes) {
  SCOPED_TRACE(op_case.op_type);
  const std::unique_ptr<Prepared> narrow = Prepare(op_case);
  if (!narrow) return;
  const std::unique_ptr<Prepared> wide = Prepare(Widened(op_case, *narrow, false));
  if (!wide) return;
  const Result<Cost> cost = CostOf(narrow->signature);
  ASSERT_TRUE(cost.has_value()) << cost.error().message;
  Counted::tally() = {};
  RunOnce(*wide, 0, 0, [&](const KernelArgs& args) { counted(wide->signature, args); });
  const Tally tally = Counted::tally();
  const int64_t skipped =
      executes == Executes::kValidTaps ? 2 * (cost->flops.mac - cost->valid_tap_mac_count) : 0;
  EXPECT_EQ(tally.flop_count(), cost->flop_count() - skipped);
  EXPECT_EQ(tally.transcendental, cost->flops.transcendental);
  EXPECT_EQ(tally.minmax, cost->flops.minmax);
}

std::vector<std::vector<double>> TrueOutputs(const OpCase& op_case) {
  std::vector<std::vector<double>> values;
  const std::unique_ptr<Prepared> narrow = Prepare(op_case);
  if (!narrow) return values;
  const std::optional<Truth> truth = MakeTruth(op_case, *narrow);
  if (!truth) return values;
  for (size_t i = 0; i < truth->outputs.size(); ++i) {
    values.push_back(Doubles(*truth->prepared, truth->outputs, i));
  }
  return values;
}

Result<std::vector<TensorType>> InferCase(const OpCase& op_case) {
  TINYPROF_ASSIGN_OR_RETURN(const Graph graph, BuildGraph(op_case));
  return SignatureOf(graph, graph.nodes[0], true).outputs;
}

Cost CostOfCase(const OpCase& op_case) {
  const Result<Graph> graph = BuildGraph(op_case);
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return {};
  }
  const Result<Cost> cost = CostOf(SignatureOf(*graph, graph->nodes[0], true));
  if (!cost) {
    ADD_FAILURE() << cost.error().message;
    return {};
  }
  return *cost;
}

}  // namespace tinyprof
