// Builds a Graph node by node and infers the types of every new value at once.
//
// The first error sticks: later calls do nothing and return kNoValue, so that a model can be
// written as straight code and checked once, by Finish().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"

namespace tinyprof {

class GraphBuilder {
 public:
  // `seed` is mixed into the seed of every weight, so that two models differ.
  GraphBuilder(std::string name, std::string source, uint64_t seed = 1);

  // A graph input; `fill` says what synthetic runs feed it.
  ValueId Input(std::string name, TensorType type, Fill fill);
  // A trained weight whose elements are uniform in [-bound, bound).
  ValueId Weight(std::string_view name, Shape shape, double bound);
  // A trained weight with `fill`.
  ValueId Parameter(std::string_view name, TensorType type, Fill fill);
  // An initializer that is not a parameter.
  ValueId Constant(std::string_view name, TensorType type, Fill fill);
  ValueId ConstantInts(std::string_view name, const std::vector<int64_t>& elements);

  // Appends a node named after the current scope and returns its first output. Trailing omitted
  // optional inputs may be left out, inner ones are kNoValue.
  ValueId Op(std::string_view op_type, std::vector<ValueId> inputs, Attributes attributes = {},
             std::string_view name = {});
  // The same for an operator with several outputs.
  std::vector<ValueId> MultiOp(std::string_view op_type, std::vector<ValueId> inputs,
                               size_t output_count, Attributes attributes = {},
                               std::string_view name = {});

  // Modules nest: names and paths of what is added until PopScope() are prefixed "outer.inner.".
  void PushScope(std::string_view scope);
  void PopScope();

  const TensorType& type(ValueId id) const;  // a scalar float32 after an error
  bool ok() const { return !error_.has_value(); }
  // Makes the builder fail, with the error that the caller found. The first one wins.
  void SetError(Error error);
  const std::optional<Error>& error() const { return error_; }

  Result<Graph> Finish(const std::vector<ValueId>& outputs) &&;

 private:
  std::string Scoped(std::string_view name) const;
  std::string UniqueNodeName(std::string wanted);
  ValueId AddValue(Value value);

  Graph graph_;
  uint64_t seed_;
  std::vector<std::string> scopes_;
  std::map<std::string, int> node_names_;
  std::optional<Error> error_;
};

}  // namespace tinyprof
