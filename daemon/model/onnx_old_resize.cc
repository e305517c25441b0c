// Upsample and Resize as they were before opset 11.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "daemon/model/onnx_fold.h"
#include "daemon/model/onnx_node.h"
#include "daemon/model/onnx_reader.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {
namespace {

// The factors of the axes; empty when they are not known.
std::vector<float> KnownScales(const Graph& graph, ValueId id) {
  const TensorType& type = graph.value(id).type;
  const auto* known = reinterpret_cast<const float*>(KnownData(graph, id));
  if (known == nullptr || type.dtype != DType::kFloat32) return {};
  return {known, known + type.shape.element_count()};
}

bool IsShrinking(float scale) { return scale < 1; }
bool IsWidening(float scale) { return scale > 1; }

}  // namespace

// Upsample, and Resize before opset 11: asymmetric, with the scales as input 1 or as an attribute.
Result<std::vector<ValueId>> OnnxReader::EmitResize(const onnx::NodeProto& source, Node node,
                                                    size_t output_count) {
  if (graph_.opset >= 11) return Emit(source, std::move(node), output_count);
  if (node.inputs.empty()) return BadNode(source, "the input is missing");
  if (node.inputs.size() == 1) {
    const auto scales = node.attributes.find("scales");
    const auto* list = scales == node.attributes.end()
                           ? nullptr
                           : std::get_if<std::vector<float>>(&scales->second);
    if (list == nullptr) return BadNode(source, "the scales are missing");
    TensorData tensor{"",
                      {DType::kFloat32, Shape{static_cast<int64_t>(list->size())}},
                      Fill::Float32s(*list).data};
    node.inputs.push_back(AddInitializer(std::move(tensor)));
  }
  if (node.inputs.size() != 2 || node.inputs[1] == kNoValue) {
    return BadNode(source, "an input and scales are wanted");
  }
  node.inputs.insert(node.inputs.begin() + 1, kNoValue);
  node.attributes.erase("scales");
  node.op_type = "Resize";
  node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  return EmitOldNearest(source, std::move(node));
}

// What is nearest to a place was not said: it is the element before it where an axis becomes
// longer, and that behind it where it becomes shorter, as ONNX's own tests of opset 10 have it. An
// axis that does not change is indifferent, so that both can follow each other.
Result<std::vector<ValueId>> OnnxReader::EmitOldNearest(const onnx::NodeProto& source, Node node) {
  const std::vector<float> scales = KnownScales(graph_, node.inputs[2]);
  const auto emit = [&](Node part, const char* nearest_mode, bool (*is_left_out)(float)) {
    std::vector<float> own = scales;
    std::replace_if(own.begin(), own.end(), is_left_out, 1.0F);
    part.inputs[2] =
        AddInitializer({"", graph_.value(part.inputs[2]).type, Fill::Float32s(own).data});
    part.attributes["nearest_mode"] = std::string(nearest_mode);
    return Emit(source, std::move(part), 1);
  };
  if (std::none_of(scales.begin(), scales.end(), IsShrinking)) {
    node.attributes["nearest_mode"] = std::string("floor");
    return Emit(source, std::move(node), 1);
  }
  if (std::any_of(scales.begin(), scales.end(), IsWidening)) {
    TINYPROF_ASSIGN_OR_RETURN(const std::vector<ValueId> wide, emit(node, "floor", IsShrinking));
    node.inputs[0] = wide[0];
  }
  return emit(std::move(node), "ceil", IsWidening);
}

}  // namespace tinyprof
