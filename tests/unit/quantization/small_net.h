// Networks of a few nodes with numbers that can be worked out by hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/graph/graph_builder.h"
#include "kernels/runtime/session.h"

namespace tinyprof {

class SmallNet {
 public:
  SmallNet() : builder_("net", "layers") {}

  GraphBuilder& builder() { return builder_; }
  ValueId Input(const std::string& name, Shape shape) {
    return builder_.Input(name, {DType::kFloat32, std::move(shape)}, Fill::Uniform(1, 7));
  }
  ValueId Floats(const std::string& name, Shape shape, const std::vector<float>& elements) {
    return builder_.Parameter(name, {DType::kFloat32, std::move(shape)}, Fill::Float32s(elements));
  }
  ValueId Op(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return builder_.Op(op, std::move(inputs), std::move(attributes));
  }
  Graph Finish(const std::vector<ValueId>& outputs) && {
    Result<Graph> graph = std::move(builder_).Finish(outputs);
    EXPECT_TRUE(graph.has_value()) << graph.error().message;
    return graph ? *graph : Graph{};
  }

 private:
  GraphBuilder builder_;
};

inline std::vector<std::string> OpsOf(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) ops.push_back(node.op_type);
  return ops;
}

inline ValueId IdOf(const Graph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].name == name) return static_cast<ValueId>(i);
  }
  ADD_FAILURE() << "no value is called " << name;
  return 0;
}

// The elements of an initializer.
template <class T>
std::vector<T> ElementsOf(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  EXPECT_EQ(value.kind, Value::Kind::kInitializer);
  EXPECT_EQ(static_cast<size_t>(ByteSize(value.type.dtype)), sizeof(T));
  std::vector<T> elements(static_cast<size_t>(value.type.shape.element_count()));
  Materialize(value.fill, value.type.dtype, 0, value.type.shape.element_count(), elements.data());
  return elements;
}

// The first output on these elements of the first input.
inline std::vector<float> RunOn(const Graph& graph, const std::vector<float>& input) {
  auto session = Session::Create(graph, {.backend = Backend::kReference});
  EXPECT_TRUE(session.has_value()) << session.error().message;
  if (!session) return {};
  std::copy(input.begin(), input.end(), (*session)->input(0).As<float>());
  (*session)->RunAll();
  const ConstTensorView output = (*session)->output(0);
  return {output.As<float>(), output.As<float>() + output.element_count()};
}

}  // namespace tinyprof
