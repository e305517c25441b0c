// Turns the nodes of an ONNX graph into nodes of a Graph, one after the other.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/model/onnx_fold.h"
#include "daemon/model/onnx_inputs.h"
#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace tinyprof {

class OnnxReader {
 public:
  // `byte_size` of the file bounds what constant folding may cost.
  OnnxReader(std::string name, int64_t opset, int64_t byte_size);

  // The graph of `proto` on `inputs`. Takes the weights out of `proto` as it goes.
  Result<Graph> Read(onnx::GraphProto& proto, const std::vector<BoundInput>& inputs);

 private:
  // Names of one graph; a branch of an If sees those of the graphs around it.
  struct Scope {
    std::map<std::string, ValueId, std::less<>> values;
    const Scope* parent = nullptr;
  };

  Status ReadBody(onnx::GraphProto& proto, Scope& scope);
  Status ReadNode(onnx::NodeProto& node, Scope& scope);
  Status ReadConstant(const onnx::NodeProto& node, Scope& scope);
  Status ReadIf(onnx::NodeProto& node, Scope& scope);
  Status ReadOperator(const onnx::NodeProto& node, Scope& scope);
  // Notes that the outputs of `node` cannot be known, because of an unknown operator.
  void Poison(const onnx::NodeProto& node, Scope& scope);

  // Appends a node (or its folded outputs) and returns its outputs.
  Result<std::vector<ValueId>> Emit(const onnx::NodeProto& source, Node node, size_t output_count);
  // Softmax before opset 13 works on a matrix, with the axes from `axis` on as its columns.
  Result<std::vector<ValueId>> EmitMatrixSoftmax(const onnx::NodeProto& source, const Node& node);

  Result<std::vector<ValueId>> Resolve(const onnx::NodeProto& node, const Scope& scope) const;
  Status Define(Scope& scope, const std::string& name, ValueId id) const;
  ValueId AddInitializer(TensorData tensor);
  std::string UniqueName(std::string wanted);
  size_t UsedOutputs(const onnx::NodeProto& node) const;
  void CountUses(const onnx::GraphProto& proto);
  std::string ScalarInputs() const;
  Result<Graph> Finish(const onnx::GraphProto& proto, const Scope& scope);

  Graph graph_;
  FoldBudget budget_;
  std::set<std::string, std::less<>> used_names_;  // values that something reads
  std::map<std::string, int> node_names_;
  std::map<std::string, std::vector<std::string>> unknown_nodes_;  // by operator
};

}  // namespace tinyprof
