#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "daemon/convert/measurement.h"
#include "daemon/convert/model_spec.h"
#include "daemon/model/tensor_proto.h"
#include "daemon/worker/compare_tensors.h"
#include "daemon/worker/protocol.h"
#include "daemon/worker/tasks.h"
#include "kernels/runtime/isa.h"
#include "kernels/runtime/run_plan.h"
#include "kernels/runtime/session.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

tl::unexpected<Error> BadTensor(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_INPUT", std::move(message));
}

Result<std::vector<TensorData>> ReadTensors(
    const google::protobuf::RepeatedPtrField<std::string>& serialized, std::string_view role) {
  std::vector<TensorData> tensors;
  for (int i = 0; i < serialized.size(); ++i) {
    onnx::TensorProto proto;
    if (!proto.ParseFromString(serialized.Get(i))) {
      return BadTensor(fmt::format("{} {} is no ONNX TensorProto", role, i));
    }
    TINYPROF_ASSIGN_OR_RETURN(TensorData tensor, TensorFromProto(proto));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// The tensors in the order of `ids`: by name where a tensor has the name of one of these values,
// else by position.
Result<std::vector<TensorData>> InOrder(const Graph& graph, const std::vector<ValueId>& ids,
                                        const std::vector<TensorData>& given,
                                        std::string_view role) {
  if (given.size() != ids.size()) {
    return BadTensor(
        fmt::format("the model has {} {}s and {} were given", ids.size(), role, given.size()));
  }
  std::vector<TensorData> tensors(ids.size());
  for (size_t i = 0; i < given.size(); ++i) {
    size_t position = i;
    for (size_t k = 0; k < ids.size(); ++k) {
      if (graph.value(ids[k]).name == given[i].name) position = k;
    }
    tensors[position] = given[i];
  }
  for (size_t k = 0; k < ids.size(); ++k) {
    if (!tensors[k].bytes) {
      return BadTensor(fmt::format("{} {} was not given", role, graph.value(ids[k]).name));
    }
  }
  return tensors;
}

struct Imported {
  Graph graph;
  std::vector<TensorData> inputs;  // those of the graph: without what is fixed
};

// Inputs that shapes or the flow of control depend on are fixed to what was given, by name: only
// integers and conditions where that is enough.
Result<Imported> Import(const worker::WorkerRequest& request,
                        const std::vector<TensorData>& inputs) {
  const auto import = [&](const auto& is_fixed) -> Result<Imported> {
    std::vector<TensorData> fixed;
    std::vector<TensorData> others;
    for (const TensorData& input : inputs) {
      (!input.name.empty() && is_fixed(input) ? fixed : others).push_back(input);
    }
    TINYPROF_ASSIGN_OR_RETURN(Graph graph,
                              BuildGraph(request.verify().spec().model(),
                                         request.has_model_file() ? kModelFd : -1, fixed));
    return Imported{std::move(graph), std::move(others)};
  };
  const auto wants_more = [](const Result<Imported>& imported) {
    return !imported && (imported.error().reason == "SHAPE_NOT_KNOWN" ||
                         imported.error().reason == "CONTROL_FLOW");
  };
  Result<Imported> imported = import([](const TensorData&) { return false; });
  if (wants_more(imported)) {
    imported = import([](const TensorData& input) {
      const DType dtype = input.type.dtype;
      return dtype == DType::kInt64 || dtype == DType::kInt32 ||
             (dtype == DType::kBool && input.type.shape.element_count() <= 1);
    });
  }
  if (wants_more(imported)) imported = import([](const TensorData&) { return true; });
  return imported;
}

Status SetInputs(Session& session, const std::vector<TensorData>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView target = session.input(i);
    const TensorType& type = inputs[i].type;
    if (type != target.type) {
      return BadTensor(fmt::format("input {} is {} {} and the model takes {} {}",
                                   session.graph().value(session.graph().inputs[i]).name,
                                   Name(type.dtype), type.shape.ToString(), Name(target.type.dtype),
                                   target.type.shape.ToString()));
    }
    std::memcpy(target.data, inputs[i].bytes->data(), inputs[i].bytes->size());
  }
  return {};
}

Tolerance ToleranceOf(const v1::VerifySpec& spec) {
  Tolerance tolerance;
  if (spec.has_rtol()) tolerance.relative = spec.rtol();
  if (spec.has_atol()) tolerance.absolute = spec.atol();
  return tolerance;
}

}  // namespace

Result<worker::WorkerEvent> RunVerifyTask(const worker::WorkerRequest& request) {
  const worker::VerifyTask& task = request.verify();
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<TensorData> given,
                            ReadTensors(task.inputs(), "input"));
  TINYPROF_ASSIGN_OR_RETURN(Imported loaded, Import(request, given));
  TINYPROF_ASSIGN_OR_RETURN(const Isa isa, ResolveIsa(task.spec().isa()));
  const SessionOptions options{.backend = FromProto(task.spec().backend()),
                               .isa = isa,
                               .threads = request.cpus_size(),
                               .conv_algorithm = FromProto(task.spec().conv_algorithm()),
                               .choices = {},
                               .layouts = {},
                               .memory_limit_bytes = request.memory_limit_bytes()};
  TINYPROF_ASSIGN_OR_RETURN(const RunPlan plan,
                            PlanRun(std::move(loaded.graph), options, task.spec().fuse()));
  const Graph& graph = plan.graph;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<TensorData> inputs,
                            InOrder(graph, graph.inputs, loaded.inputs, "input"));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<TensorData> outputs,
                            ReadTensors(task.outputs(), "output"));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<TensorData> wanted,
                            InOrder(graph, graph.outputs, outputs, "output"));
  TINYPROF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                            Session::Create(graph, plan.options));
  TINYPROF_RETURN_IF_ERROR(SetInputs(*session, inputs));
  session->RunAll();

  worker::WorkerEvent event;
  v1::VerifyModelResponse& response = *event.mutable_verified();
  const Tolerance tolerance = ToleranceOf(task.spec());
  response.set_rtol(tolerance.relative);
  response.set_atol(tolerance.absolute);
  bool ok = true;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string& name = graph.value(graph.outputs[i]).name;
    *response.add_outputs() = CompareTensors(name, session->output(i), wanted[i], tolerance);
    ok = ok && response.outputs(static_cast<int>(i)).ok();
  }
  response.set_ok(ok);
  return event;
}

}  // namespace tinyprof
