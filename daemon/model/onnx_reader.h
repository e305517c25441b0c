// Turns the nodes of an ONNX graph into nodes of a Graph, one after the other.
#pragma once

#include <map>
#include <optional>
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

  // Lets each output have the name that the file gives it: what a branch or a loop made is known by
  // the name that it has in there.
  void NameOutputs(const onnx::GraphProto& proto);
  Status ReadBody(onnx::GraphProto& proto, Scope& scope);
  Status ReadInitializers(onnx::GraphProto& proto, Scope& scope);
  Status ReadNodes(onnx::GraphProto& proto, Scope& scope);
  Status ReadNode(onnx::NodeProto& node, Scope& scope);
  Status ReadConstant(const onnx::NodeProto& node, Scope& scope);
  Status ReadIf(onnx::NodeProto& node, Scope& scope);
  Status ReadOperator(const onnx::NodeProto& node, Scope& scope);
  // Notes that the outputs of `node` cannot be known, because of an unknown operator.
  void Poison(const onnx::NodeProto& node, Scope& scope);

  // Appends a node (or its folded outputs) and returns its outputs.
  Result<std::vector<ValueId>> Emit(const onnx::NodeProto& source, Node node, size_t output_count);

  // Operators that are read as others (onnx_forms.cc): by the name in the file, what emits them.
  using Form = Result<std::vector<ValueId>> (OnnxReader::*)(const onnx::NodeProto& source,
                                                            Node node, size_t output_count);
  using Forms = std::map<std::string, Form, std::less<>>;
  static const Forms& AllForms();
  Result<std::vector<ValueId>> EmitBroadcast(const onnx::NodeProto& source, Node node,
                                             size_t output_count);
  Result<std::vector<ValueId>> EmitPRelu(const onnx::NodeProto& source, Node node,
                                         size_t output_count);
  Result<std::vector<ValueId>> EmitPow(const onnx::NodeProto& source, Node node,
                                       size_t output_count);
  Result<std::vector<ValueId>> EmitCastLike(const onnx::NodeProto& source, Node node,
                                            size_t output_count);
  Result<std::vector<ValueId>> EmitConstantOfShape(const onnx::NodeProto& source, Node node,
                                                   size_t output_count);
  Result<std::vector<ValueId>> EmitBatchNorm(const onnx::NodeProto& source, Node node,
                                             size_t output_count);
  Result<std::vector<ValueId>> EmitDropout(const onnx::NodeProto& source, Node node,
                                           size_t output_count);
  Result<std::vector<ValueId>> EmitSoftmax(const onnx::NodeProto& source, Node node,
                                           size_t output_count);
  Result<std::vector<ValueId>> EmitScatter(const onnx::NodeProto& source, Node node,
                                           size_t output_count);
  Result<std::vector<ValueId>> EmitResize(const onnx::NodeProto& source, Node node,
                                          size_t output_count);
  Result<std::vector<ValueId>> EmitOldNearest(const onnx::NodeProto& source, Node node);
  Result<std::vector<ValueId>> EmitRoiAlign(const onnx::NodeProto& source, Node node,
                                            size_t output_count);
  Result<std::vector<ValueId>> EmitMeanVariance(const onnx::NodeProto& source, Node node,
                                                size_t output_count);
  Result<std::vector<ValueId>> EmitRecurrent(const onnx::NodeProto& source, Node node,
                                             size_t output_count);
  Result<std::vector<ValueId>> EmitSize(const onnx::NodeProto& source, Node node,
                                        size_t output_count);
  // Losses (onnx_losses.cc).
  Result<std::vector<ValueId>> EmitLogLikelihood(const onnx::NodeProto& source, Node node,
                                                 size_t output_count);
  Result<std::vector<ValueId>> EmitCrossEntropy(const onnx::NodeProto& source, Node node,
                                                size_t output_count);
  Result<ValueId> EmitLoss(const onnx::NodeProto& source, const Node& node,
                           ValueId log_probabilities);
  Result<ValueId> EmitTargetWeights(const onnx::NodeProto& source, const Node& node,
                                    ValueId classes, ValueId is_ignored, DType dtype);
  // Appends one node of a form and returns its output.
  Result<ValueId> EmitOne(const onnx::NodeProto& source, const Node& base, std::string op_type,
                          std::vector<ValueId> inputs, Attributes attributes);
  Result<ValueId> EmitReshape(const onnx::NodeProto& source, const Node& base, ValueId from,
                              const std::vector<int64_t>& dims);
  Result<ValueId> EmitCast(const onnx::NodeProto& source, const Node& base, ValueId from, DType to);

  // Loops, unrolled (onnx_loops.cc).
  struct Unrolled;
  struct ScanPlan;
  Status CountIteration(const onnx::NodeProto& node);
  Status ReadLoop(onnx::NodeProto& node, Scope& scope);
  Status ReadScan(onnx::NodeProto& node, Scope& scope);
  Status ReadBatchedScan(onnx::NodeProto& node, Scope& scope, onnx::GraphProto& body,
                         const Scope& constants, const std::vector<ValueId>& inputs);
  Result<std::vector<int64_t>> KnownSequenceLengths(const onnx::NodeProto& node, ValueId lengths,
                                                    int64_t batch) const;
  void PadStack(std::vector<ValueId>& stack, int64_t length);
  Result<Unrolled> UnrollScan(onnx::NodeProto& node, onnx::GraphProto& body, const Scope& constants,
                              const ScanPlan& plan, const std::vector<ValueId>& inputs);
  Result<ValueId> EmitSlice(const onnx::NodeProto& node, ValueId value, int64_t axis,
                            int64_t index);
  Result<ScanPlan> PlanScan(const onnx::NodeProto& node, const onnx::GraphProto& body,
                            const std::vector<ValueId>& inputs) const;
  // The outputs of the body on `inputs`.
  Result<std::vector<ValueId>> ReadIteration(onnx::NodeProto& node, onnx::GraphProto& body,
                                             const Scope& constants,
                                             const std::vector<ValueId>& inputs);
  Result<ValueId> EmitStack(const onnx::NodeProto& node, std::vector<ValueId> values, int64_t axis);
  Status DefineLoopOutputs(onnx::NodeProto& node, Scope& scope, Unrolled unrolled,
                           const std::vector<int64_t>& axes);
  Result<bool> KnownCondition(const onnx::NodeProto& node, ValueId condition) const;

  // While one lives, what is read stays in the file's protos: a body is read many times.
  class KeepProtos {
   public:
    explicit KeepProtos(OnnxReader& reader) : reader_(reader) { ++reader_.keeping_; }
    KeepProtos(const KeepProtos&) = delete;
    KeepProtos& operator=(const KeepProtos&) = delete;
    ~KeepProtos() { --reader_.keeping_; }

   private:
    OnnxReader& reader_;
  };

  Result<std::vector<ValueId>> Resolve(const onnx::NodeProto& node, const Scope& scope) const;
  // The value of that name, of `scope` or those around it.
  static std::optional<ValueId> Find(const Scope& scope, const std::string& name);
  Status Define(Scope& scope, const std::string& name, ValueId id) const;
  ValueId AddInitializer(TensorData tensor);
  std::string UniqueName(std::string wanted);
  size_t UsedOutputs(const onnx::NodeProto& node) const;
  void CountUses(const onnx::GraphProto& proto);
  std::string ScalarInputs() const;
  Result<Graph> Finish(const onnx::GraphProto& proto, const Scope& scope);

  Graph graph_;
  FoldBudget budget_;
  size_t nodes_read_ = 0;                          // once for each iteration
  int64_t iterations_ = 0;                         // of all loops
  int keeping_ = 0;                                // how many KeepProtos there are
  std::set<std::string, std::less<>> used_names_;  // values that something reads
  std::map<std::string, int> node_names_;
  std::map<std::string, std::vector<std::string>> unknown_nodes_;  // by operator
};

}  // namespace tinyprof
