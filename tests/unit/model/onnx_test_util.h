// Small ONNX models written by hand through the generated classes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/model/onnx_import.h"
#include "daemon/model/tensor_proto.h"
#include "onnx/onnx.pb.h"

namespace tinyprof {

class ModelMaker {
 public:
  explicit ModelMaker(int64_t opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    graph()->set_name("test");
  }

  onnx::GraphProto* graph() { return model_.mutable_graph(); }
  onnx::ModelProto* model() { return &model_; }

  // Dimensions are numbers or, as text, free names; "?" has no name.
  ModelMaker& Input(const std::string& name, const std::vector<std::string>& dims,
                    DType dtype = DType::kFloat32) {
    auto* info = graph()->add_input();
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(OnnxDataType(dtype));
    tensor->mutable_shape();
    for (const std::string& dim : dims) {
      auto* proto = tensor->mutable_shape()->add_dim();
      if (dim == "?") continue;
      if (dim.find_first_not_of("-0123456789") == std::string::npos) {
        proto->set_dim_value(std::stoll(dim));
      } else {
        proto->set_dim_param(dim);
      }
    }
    return *this;
  }
  ModelMaker& Output(const std::string& name) {
    graph()->add_output()->set_name(name);
    return *this;
  }
  ModelMaker& Floats(const std::string& name, const std::vector<int64_t>& dims,
                     const std::vector<float>& elements) {
    auto* tensor = graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->mutable_dims()->Add(dims.begin(), dims.end());
    tensor->mutable_float_data()->Add(elements.begin(), elements.end());
    return *this;
  }
  ModelMaker& Ints(const std::string& name, const std::vector<int64_t>& dims,
                   const std::vector<int64_t>& elements) {
    auto* tensor = graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    tensor->mutable_dims()->Add(dims.begin(), dims.end());
    tensor->mutable_int64_data()->Add(elements.begin(), elements.end());
    return *this;
  }
  static onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& op,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs) {
    auto* node = graph->add_node();
    node->set_op_type(op);
    for (const std::string& input : inputs) node->add_input(input);
    for (const std::string& output : outputs) node->add_output(output);
    return node;
  }
  onnx::NodeProto* Node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    return AddNode(graph(), op, inputs, outputs);
  }
  static void SetInt(onnx::NodeProto* node, const std::string& name, int64_t value) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }

  std::string Bytes() const { return model_.SerializeAsString(); }
  Result<Graph> Import(const ImportOptions& options = {}) const {
    const std::string bytes = Bytes();
    return ImportOnnx(std::as_bytes(std::span(bytes)), options);
  }

 private:
  onnx::ModelProto model_;
};

// A Gemm and a Relu over rows of four.
inline ModelMaker Mlp() {
  ModelMaker maker;
  maker.Input("x", {"N", "4"}).Output("y");
  maker.Floats("w", {4, 3}, std::vector<float>(12, 0.5F)).Floats("b", {3}, {1, 2, 3});
  maker.Node("Gemm", {"x", "w", "b"}, {"h"});
  maker.Node("Relu", {"h"}, {"y"});
  return maker;
}

// The graph, failing the test with the error's message.
inline Graph Imported(const Result<Graph>& graph) {
  EXPECT_TRUE(graph.has_value()) << graph.error().message;
  return graph ? *graph : Graph{};
}

}  // namespace tinyprof
