#include "tests/conformance/model_run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/model/onnx_import.h"
#include "daemon/model/tensor_proto.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/runtime/isa.h"
#include "kernels/runtime/run_plan.h"
#include "kernels/runtime/session.h"
#include "onnx/onnx.pb.h"
#include "tests/conformance/compare.h"

namespace tinyprof {
namespace {

namespace fs = std::filesystem;

Outcome Refused(const Error& error) {
  return {Outcome::Kind::kRefused, fmt::format("{}: {}", error.reason, error.message)};
}
Outcome Failed(std::string detail) { return {Outcome::Kind::kFailed, std::move(detail)}; }

std::optional<onnx::ModelProto> ReadModel(const fs::path& folder) {
  std::ifstream file(folder / "model.onnx", std::ios::binary);
  onnx::ModelProto model;
  if (!file || !model.ParseFromIstream(&file)) return std::nullopt;
  return model;
}

// ONNX's files hold bfloat16 as uint16, which are kept as int32.
TensorData AsBFloat16(const TensorData& tensor) {
  const auto count = static_cast<size_t>(tensor.type.shape.element_count());
  auto bytes = std::make_shared<std::vector<std::byte>>(2 * count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(bytes->data() + 2 * i, tensor.bytes->data() + 4 * i, 2);
  }
  return {tensor.name, {DType::kBFloat16, tensor.type.shape}, std::move(bytes)};
}

// `tensor` as what the model calls its type.
TensorData AsDeclared(const TensorData& tensor, DType declared) {
  const bool is_stored_so = declared == DType::kBFloat16 && tensor.type.dtype == DType::kInt32;
  return is_stored_so ? AsBFloat16(tensor) : tensor;
}

// The tensors of input_0.pb, input_1.pb, ... or output_0.pb, ...
Result<std::vector<TensorData>> ReadTensors(const fs::path& folder, std::string_view kind) {
  std::vector<TensorData> tensors;
  while (true) {
    const fs::path path =
        folder / "test_data_set_0" / fmt::format("{}_{}.pb", kind, tensors.size());
    if (!fs::exists(path)) return tensors;
    TINYPROF_ASSIGN_OR_RETURN(TensorData tensor, ReadTensorFile(path.string()));
    tensors.push_back(std::move(tensor));
  }
}

// The inputs that are no initializers, in the file's order.
std::vector<onnx::ValueInfoProto> InputsOf(const onnx::GraphProto& graph) {
  std::set<std::string> initializers;
  for (const auto& initializer : graph.initializer()) initializers.insert(initializer.name());
  std::vector<onnx::ValueInfoProto> inputs;
  for (const auto& input : graph.input()) {
    if (!initializers.contains(input.name())) inputs.push_back(input);
  }
  return inputs;
}

enum class Fix { kNothing, kIntegers, kEverything };

Result<Graph> Import(const fs::path& folder, const std::vector<TensorData>& inputs, Fix fix) {
  ImportOptions options{.name = folder.filename().string()};
  for (const TensorData& input : inputs) {
    const DType dtype = input.type.dtype;
    const bool is_integer = dtype == DType::kInt64 || dtype == DType::kInt32 ||
                            (dtype == DType::kBool && input.type.shape.element_count() <= 1);
    if (fix == Fix::kEverything || (fix == Fix::kIntegers && is_integer)) {
      options.fixed.push_back(input);
    } else {
      options.inputs.emplace_back(input.name, input.type.shape.dims());
    }
  }
  return ImportOnnxFile((folder / "model.onnx").string(), options);
}

// Fixes no more than is needed.
Result<Graph> ImportKnowingEnough(const fs::path& folder, const std::vector<TensorData>& inputs) {
  Result<Graph> graph = Import(folder, inputs, Fix::kNothing);
  for (const Fix fix : {Fix::kIntegers, Fix::kEverything}) {
    if (graph) return graph;
    const std::string& reason = graph.error().reason;
    if (reason != "SHAPE_NOT_KNOWN" && reason != "CONTROL_FLOW") return graph;
    graph = Import(folder, inputs, fix);
  }
  return graph;
}

// One way to run a model.
struct Run {
  SessionOptions options;
  bool fuse = false;

  std::string name() const {
    return fmt::format("{} {}{}", Name(options.backend), Name(options.isa), fuse ? " fused" : "");
  }
};

// Every backend. oneDNN, which is bound to one instruction set for the life of a process, takes the
// best one, with convolutions that do not lose digits.
std::vector<Run> AllRuns() {
  std::vector<Run> runs = {{.options = {.backend = Backend::kReference}}};
  for (const Isa isa : HostIsas()) {
    runs.push_back({.options = {.backend = Backend::kEigen, .isa = isa}});
  }
  const Isa best = HostIsas().back();
  runs.push_back({.options = {.backend = Backend::kEigen, .isa = best}, .fuse = true});
  if (PrepareOnednn(best)) {
    runs.push_back({.options = {.backend = Backend::kOnednn, .isa = best}});
    runs.push_back({.options = {.backend = Backend::kOnednn, .isa = best}, .fuse = true});
  }
  runs.push_back({.options = {.backend = Backend::kBest, .isa = best}});
  return runs;
}

Outcome RunBackend(const Graph& given, const Run& run, const std::vector<TensorData>& inputs,
                   const std::vector<TensorData>& wanted) {
  const Result<RunPlan> plan = PlanRun(given, run.options, run.fuse);
  if (!plan) return Refused(plan.error());
  const Graph& graph = plan->graph;
  Result<std::unique_ptr<Session>> session = Session::Create(graph, plan->options);
  if (!session) return Refused(session.error());
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs[i]);
    const auto data = std::find_if(inputs.begin(), inputs.end(), [&](const TensorData& input) {
      return input.name == value.name;
    });
    if (data == inputs.end() || data->type != value.type) {
      return Failed(fmt::format("input {} has no data of its type", i));
    }
    if (data->bytes->empty()) continue;
    std::memcpy((*session)->input(i).data, data->bytes->data(), data->bytes->size());
  }
  (*session)->RunAll();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const ConstTensorView got = (*session)->output(i);
    const std::string difference = DifferenceOf(got, AsDeclared(wanted[i], got.type.dtype));
    if (!difference.empty()) {
      return Failed(fmt::format("{}: output {}: {}", run.name(), i, difference));
    }
  }
  return {Outcome::Kind::kPassed, ""};
}

void AddOperators(const onnx::GraphProto& graph, std::set<std::string>& operators) {
  for (const auto& node : graph.node()) {
    if (node.op_type() != "Constant") operators.insert(node.op_type());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) AddOperators(attribute.g(), operators);
    }
  }
}

}  // namespace

Outcome RunModel(const fs::path& folder) {
  const std::optional<onnx::ModelProto> model = ReadModel(folder);
  if (!model) return Failed("model.onnx cannot be read");
  Result<std::vector<TensorData>> inputs = ReadTensors(folder, "input");
  if (!inputs) return Refused(inputs.error());
  const std::vector<onnx::ValueInfoProto> declared = InputsOf(model->graph());
  if (inputs->size() > declared.size()) return Failed("there are more input files than inputs");
  for (size_t i = 0; i < inputs->size(); ++i) {
    const auto dtype = KeptDType(declared[i].type().tensor_type().elem_type());
    (*inputs)[i] = AsDeclared((*inputs)[i], dtype.value_or((*inputs)[i].type.dtype));
    (*inputs)[i].name = declared[i].name();
  }
  const Result<std::vector<TensorData>> wanted = ReadTensors(folder, "output");
  if (!wanted) return Refused(wanted.error());
  const Result<Graph> graph = ImportKnowingEnough(folder, *inputs);
  if (!graph) return Refused(graph.error());
  if (wanted->size() != graph->outputs.size()) {
    return Failed(
        fmt::format("{} outputs, {} output files", graph->outputs.size(), wanted->size()));
  }
  for (const Run& run : AllRuns()) {
    Outcome outcome = RunBackend(*graph, run, *inputs, *wanted);
    if (outcome.kind != Outcome::Kind::kPassed) return outcome;
  }
  return {Outcome::Kind::kPassed, ""};
}

Outcome RunModelApart(const fs::path& folder, int seconds) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return Failed("no pipe");
  const pid_t child = ::fork();
  if (child < 0) return Failed("no child process");
  if (child == 0) {
    ::close(ends[0]);
    // The default action of the signal ends the child.
    ::alarm(static_cast<unsigned>(seconds));
    const Outcome outcome = RunModel(folder);
    const std::string line = static_cast<char>(outcome.kind) + outcome.detail;
    const bool written =
        ::write(ends[1], line.data(), line.size()) == static_cast<ssize_t>(line.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string line;
  std::array<char, 4096> block{};
  for (ssize_t count = 1; count != 0;) {
    count = ::read(ends[0], block.data(), block.size());
    if (count < 0 && errno != EINTR) break;
    if (count > 0) line.append(block.data(), static_cast<size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return Failed(fmt::format("ended by signal {}", WTERMSIG(status)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || line.empty()) {
    return Failed("the process ended without a result");
  }
  std::string detail = line.substr(1);
  std::replace(detail.begin(), detail.end(), '\n', ' ');
  return {static_cast<Outcome::Kind>(line[0]), std::move(detail)};
}

std::set<std::string> OperatorsOf(const fs::path& folder) {
  std::set<std::string> operators;
  if (const std::optional<onnx::ModelProto> model = ReadModel(folder)) {
    AddOperators(model->graph(), operators);
  }
  return operators;
}

}  // namespace tinyprof
