// One node of an ONNX file, with its attributes in the form of the graph.
#pragma once

#include <string>
#include <string_view>

#include "daemon/model/tensor_proto.h"
#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace tinyprof {

// "Conv", or "com.microsoft::Gelu" for another domain than the default one.
std::string QualifiedOp(const onnx::NodeProto& node);

// The node's name, or one made of its first output; for messages.
std::string DisplayName(const onnx::NodeProto& node);

// Whether all of its outputs have to be there, whoever reads them; those of other operators that
// have several may be left out from the last one on. A Split cuts into as many parts as it has.
bool HasNoOptionalOutput(const onnx::NodeProto& node);

// INVALID_ARGUMENT / "BAD_ONNX" that names the node.
tl::unexpected<Error> BadNode(const onnx::NodeProto& node, std::string_view message);

// The attributes but those that hold graphs. Lists of strings are joined by commas; a tensor of one
// element is a number. INVALID_ARGUMENT / "BAD_ONNX", UNIMPLEMENTED / "ATTRIBUTE_NOT_SUPPORTED".
Result<Attributes> AttributesOf(const onnx::NodeProto& node);

// The tensor that a Constant node holds, in any of the forms that ONNX allows.
Result<TensorData> ConstantOf(const onnx::NodeProto& node);

}  // namespace tinyprof
