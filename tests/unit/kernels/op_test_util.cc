#include "tests/unit/kernels/op_test_util.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/ops/eigen_kernels.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/ops/op.h"
#include "kernels/ops/packing_kernel.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_case.h"

namespace tinyprof {
namespace {

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

// Gives a kernel memory for its own copy of the weights and lets it write that.
std::unique_ptr<GuardedMemory> Pack(Kernel& kernel) {
  auto* packing = dynamic_cast<PackingKernel*>(&kernel);
  if (packing == nullptr || packing->packed_bytes() == 0) return nullptr;
  auto memory = std::make_unique<GuardedMemory>(static_cast<size_t>(packing->packed_bytes()));
  const Status packed = packing->Pack({memory->data(), memory->byte_size()});
  EXPECT_TRUE(packed.has_value()) << packed.error().message;
  EXPECT_TRUE(memory->intact()) << "wrote beyond the packed weights";
  return memory;
}

// Runs twice, over memory of 0xFF and of 0: the same bytes come out only if all of them are
// written.
Outputs RunKernelTwice(const Prepared& prepared, Kernel& kernel) {
  const std::unique_ptr<GuardedMemory> packed = Pack(kernel);
  const auto run = [&](const KernelArgs& args) { kernel.Run(args); };
  Outputs first = RunOnce(prepared, kernel.scratch_bytes(), 0xFF, run);
  const Outputs second = RunOnce(prepared, kernel.scratch_bytes(), 0, run);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(std::memcmp(first[i]->data(), second[i]->data(), first[i]->byte_size()), 0)
        << "output " << i << " differs between two runs, or is not written whole";
  }
  return first;
}

std::optional<Outputs> RunTwice(const Prepared& prepared, KernelFactory factory, int threads) {
  const Result<std::unique_ptr<Kernel>> kernel = factory(prepared.signature, {.threads = threads});
  if (kernel) return RunKernelTwice(prepared, **kernel);
  ADD_FAILURE() << kernel.error().message;
  return std::nullopt;
}

std::vector<double> Doubles(const Prepared& prepared, const Outputs& outputs, size_t index) {
  const TensorType& type = prepared.signature.outputs[index];
  return ToDoubles(type.dtype, outputs[index]->data(), type.shape.element_count());
}

// The truth and how far from it a kernel may be.
struct Truth {
  std::unique_ptr<Prepared> prepared;
  Outputs outputs;
  std::vector<std::vector<double>> bounds;
};

std::optional<Truth> MakeTruth(const OpCase& op_case, const Prepared& narrow) {
  const auto run_wide = [&](bool absolute) -> std::optional<Truth> {
    Truth truth{.prepared = Prepare(op_case.widens ? Widened(op_case, narrow, absolute) : op_case),
                .outputs = {},
                .bounds = {}};
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

// Integers may be `steps` from the truth.
void CompareOutputs(const Prepared& prepared, const Outputs& got, const Truth& truth,
                    double steps = 0) {
  for (size_t i = 0; i < got.size(); ++i) {
    const DType dtype = prepared.signature.outputs[i].dtype;
    const bool exact = dtype != DType::kFloat32 && dtype != DType::kFloat64;
    const std::vector<double> got_values = Doubles(prepared, got, i);
    const std::vector<double> want_values = Doubles(*truth.prepared, truth.outputs, i);
    ASSERT_EQ(got_values.size(), want_values.size());
    for (size_t k = 0; k < got_values.size(); ++k) {
      ASSERT_TRUE(Agrees(got_values[k], want_values[k], exact ? steps : truth.bounds[i][k]))
          << "output " << i << " element " << k << ": got " << got_values[k] << ", want "
          << want_values[k] << ", bound " << truth.bounds[i][k];
    }
  }
}

void CheckKernel(const Prepared& prepared, const Truth& truth, KernelFactory factory, int threads) {
  const std::optional<Outputs> outputs = RunTwice(prepared, factory, threads);
  if (outputs) CompareOutputs(prepared, *outputs, truth);
}

bool TakesCase(const EigenKernel& kernel, const Prepared& prepared) {
  const Result<std::unique_ptr<Kernel>> made = kernel.factory(prepared.signature, {.threads = 1});
  return made || made.error().reason != "NO_KERNEL";
}

// The oneDNN kernel, where the build has one and it does this case.
void CheckOnednnKernel(const OpCase& op_case, const Prepared& prepared, const Truth& truth) {
  if (!op_case.onednn_agrees || !CheckOnednnIsBuilt().has_value()) return;
  const Isa isa = TestedOnednnIsa();
  ASSERT_TRUE(PrepareOnednn(isa).has_value());
  const OnednnFactory factory = FindOnednnKernel(op_case.op_type);
  if (factory == nullptr) return;
  for (const int threads : {1, 2}) {
    const Result<std::unique_ptr<Kernel>> kernel =
        factory(prepared.signature, {.threads = threads, .conv_algorithm = op_case.conv_algorithm});
    if (!kernel && kernel.error().reason == "NO_KERNEL") continue;
    ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
    SCOPED_TRACE(fmt::format("oneDNN kernel {}, {}, {} threads", (*kernel)->implementation(),
                             Name(isa), threads));
    CompareOutputs(prepared, RunKernelTwice(prepared, **kernel), truth, op_case.onednn_steps);
  }
}

}  // namespace

Isa TestedOnednnIsa() {
  const char* name = std::getenv("TINYPROF_TEST_ONEDNN_ISA");
  return ResolveIsa(name == nullptr ? "" : name).value_or(HostIsas().back());
}

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
    const EigenKernel* kernel = FindEigenKernel(isa, op_case.op_type);
    const bool has_kernel = kernel != nullptr && TakesCase(*kernel, *prepared);
    EXPECT_EQ(has_kernel, op_case.has_eigen_kernel) << Name(isa);
    if (!has_kernel) continue;
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(fmt::format("Eigen kernel, {}, {} threads", Name(isa), threads));
      CheckKernel(*prepared, *truth, kernel->factory, threads);
    }
  }
  CheckOnednnKernel(op_case, *prepared, *truth);
}

std::string OnednnImplementation(const OpCase& op_case) {
  const std::unique_ptr<Prepared> prepared = Prepare(op_case);
  if (!prepared || !PrepareOnednn(TestedOnednnIsa()).has_value()) return "";
  const OnednnFactory factory = FindOnednnKernel(op_case.op_type);
  if (factory == nullptr) return "";
  const Result<std::unique_ptr<Kernel>> kernel =
      factory(prepared->signature, {.threads = 1, .conv_algorithm = op_case.conv_algorithm});
  return kernel ? (*kernel)->implementation() : "";
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

void CheckIntOps(const OpCase& op_case, const ProductRoles& roles, ReferenceFn counted,
                 int64_t skipped) {
  SCOPED_TRACE(op_case.op_type);
  const std::unique_ptr<Prepared> prepared = Prepare(op_case);
  if (!prepared) return;
  const Result<Cost> cost = CostOf(prepared->signature);
  ASSERT_TRUE(cost.has_value()) << cost.error().message;
  const NodeSignature product = FloatProductOf(prepared->signature, roles);
  std::vector<Counted> x(static_cast<size_t>(product.input(0).shape.element_count()), Counted(1));
  std::vector<Counted> w(static_cast<size_t>(product.input(1).shape.element_count()), Counted(1));
  const Shape& shape = prepared->signature.output().shape;
  std::vector<Counted> out(static_cast<size_t>(shape.element_count()));
  const std::vector<ConstTensorView> inputs = {
      {.type = {DType::kFloat64, product.input(0).shape}, .data = x.data()},
      {.type = {DType::kFloat64, product.input(1).shape}, .data = w.data()}};
  const std::vector<TensorView> outputs = {{.type = {DType::kFloat64, shape}, .data = out.data()}};
  Counted::tally() = {};
  counted(product, {.inputs = inputs, .outputs = outputs, .scratch = {}});
  const Tally tally = Counted::tally();
  EXPECT_EQ(tally.add + tally.mul, cost->int_op_count - skipped);
  EXPECT_EQ(tally.flop_count(), tally.add + tally.mul);
  EXPECT_EQ(cost->flop_count(), 0);
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

Error RefusalOf(const OpCase& op_case) {
  const Result<std::vector<TensorType>> types = InferCase(op_case);
  if (!types) return types.error();
  ADD_FAILURE() << op_case.op_type << " was not refused";
  return {};
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
