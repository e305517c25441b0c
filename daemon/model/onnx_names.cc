#include "daemon/model/onnx_names.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "kernels/base/utf8.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

constexpr size_t kMaxShownBytes = 200;

tl::unexpected<Error> NoText(std::string_view what, int position, std::string_view name) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_ONNX",
              fmt::format("{} {} (counted from 0) has a name that is no UTF-8 text: '{}'", what,
                          position, ValidUtf8(name, kMaxShownBytes)));
}

template <class Named>
Status CheckNamesOf(std::string_view what, const Named& list) {
  for (int i = 0; i < list.size(); ++i) {
    if (!IsValidUtf8(list[i].name())) return NoText(what, i, list[i].name());
  }
  return {};
}

Status CheckInputs(const onnx::GraphProto& graph) {
  TINYPROF_RETURN_IF_ERROR(CheckNamesOf("input", graph.input()));
  for (int i = 0; i < graph.input_size(); ++i) {
    for (const auto& dim : graph.input(i).type().tensor_type().shape().dim()) {
      if (!IsValidUtf8(dim.dim_param())) return NoText("a dimension of input", i, dim.dim_param());
    }
  }
  return {};
}

Status CheckNode(const onnx::NodeProto& node, int position) {
  for (const std::string* name : {&node.name(), &node.op_type(), &node.domain()}) {
    if (!IsValidUtf8(*name)) return NoText("node", position, *name);
  }
  for (const std::string& name : node.input()) {
    if (!IsValidUtf8(name)) return NoText("an input of node", position, name);
  }
  for (const std::string& name : node.output()) {
    if (!IsValidUtf8(name)) return NoText("an output of node", position, name);
  }
  for (const auto& attribute : node.attribute()) {
    if (!IsValidUtf8(attribute.name())) {
      return NoText("an attribute of node", position, attribute.name());
    }
    if (attribute.has_g()) TINYPROF_RETURN_IF_ERROR(CheckNames(attribute.g()));
  }
  return {};
}

}  // namespace

Status CheckNames(const onnx::GraphProto& graph) {
  if (!IsValidUtf8(graph.name())) return NoText("graph", 0, graph.name());
  TINYPROF_RETURN_IF_ERROR(CheckInputs(graph));
  TINYPROF_RETURN_IF_ERROR(CheckNamesOf("output", graph.output()));
  TINYPROF_RETURN_IF_ERROR(CheckNamesOf("initializer", graph.initializer()));
  for (int i = 0; i < graph.node_size(); ++i) {
    TINYPROF_RETURN_IF_ERROR(CheckNode(graph.node(i), i));
  }
  return {};
}

}  // namespace tinyprof
