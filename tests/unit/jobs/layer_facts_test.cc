#include "daemon/jobs/layer_facts.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

void AddTensor(google::protobuf::RepeatedPtrField<v1::TensorInfo>& tensors, const std::string& name,
               std::initializer_list<int64_t> shape, const std::string& dtype = "float32") {
  v1::TensorInfo& tensor = *tensors.Add();
  tensor.set_name(name);
  tensor.mutable_shape()->Assign(shape.begin(), shape.end());
  tensor.set_dtype(dtype);
}

// x -> conv -> a -> relu -> b -> {add, output}: `a` has one user and `b` two.
v1::RunReport Chain() {
  v1::RunReport report;
  auto& conv = *report.add_layers()->mutable_analysis();
  AddTensor(*conv.mutable_inputs(), "x", {1, 3, 8, 8});
  AddTensor(*conv.mutable_outputs(), "a", {1, 4, 8, 8});
  auto& relu = *report.add_layers()->mutable_analysis();
  relu.set_op("Relu");
  AddTensor(*relu.mutable_inputs(), "a", {1, 4, 8, 8});
  AddTensor(*relu.mutable_outputs(), "b", {1, 4, 8, 8});
  auto& add = *report.add_layers()->mutable_analysis();
  AddTensor(*add.mutable_inputs(), "b", {1, 4, 8, 8});
  AddTensor(*report.mutable_analysis()->mutable_outputs(), "b", {1, 4, 8, 8});
  return report;
}

TEST(DataFlowTest, OnlyWhatOneLayerMakesForOneLayerIsFusable) {
  const v1::RunReport report = Chain();
  const DataFlow flow(report);
  EXPECT_EQ(flow.FusableInputBytes(report.layers(0).analysis()), 0) << "an input of the model";
  EXPECT_EQ(flow.FusableInputBytes(report.layers(1).analysis()), 4 * 8 * 8 * 4);
  EXPECT_EQ(flow.FusableInputBytes(report.layers(2).analysis()), 0) << "used twice";
}

TEST(ComputeDTypeTest, IsThatOfTheFirstFloatingPointTensor) {
  v1::LayerAnalysis layer;
  EXPECT_EQ(ComputeDType(layer), DType::kFloat32);
  AddTensor(*layer.mutable_inputs(), "ids", {1}, "int64");
  AddTensor(*layer.mutable_inputs(), "table", {1}, "float64");
  EXPECT_EQ(ComputeDType(layer), DType::kFloat64);
  AddTensor(*layer.mutable_outputs(), "y", {1}, "float32");
  EXPECT_EQ(ComputeDType(layer), DType::kFloat32);
}

TEST(FactsTest, SplitsBytesIntoWeightsAndActivations) {
  v1::RunReport report = Chain();
  v1::LayerReport& relu = *report.mutable_layers(1);
  relu.mutable_analysis()->mutable_cost()->set_weight_bytes(10);
  relu.mutable_analysis()->mutable_cost()->set_input_bytes(20);
  relu.mutable_analysis()->mutable_cost()->set_output_bytes(30);
  const LayerFacts facts = FactsOf(relu, DataFlow(report));
  EXPECT_EQ(facts.weight_bytes, 10);
  EXPECT_EQ(facts.activation_bytes, 50);
  EXPECT_TRUE(facts.is_elementwise);
  EXPECT_FALSE(facts.time.has_value());
  relu.mutable_time()->set_median_ns(5);
  EXPECT_EQ(FactsOf(relu, DataFlow(report)).time->low_ns, 5) << "an interval that is not known";
  EXPECT_EQ(FactsOf(relu, DataFlow(report)).time->high_ns, 5);
  relu.mutable_time()->set_ci_low_ns(3);
  relu.mutable_time()->set_ci_high_ns(8);
  EXPECT_EQ(FactsOf(relu, DataFlow(report)).time->low_ns, 3);
  EXPECT_EQ(FactsOf(relu, DataFlow(report)).time->high_ns, 8);
}

// Kernels share 16,384 operations or more: elements, or products in sixteens.
TEST(IsSharedTest, CountsProductsInSixteensAndElsewhereElements) {
  v1::LayerReport layer;
  AddTensor(*layer.mutable_analysis()->mutable_outputs(), "y", {128, 127});
  EXPECT_FALSE(IsShared(layer));
  layer.mutable_analysis()->mutable_outputs(0)->set_shape(1, 128);
  EXPECT_TRUE(IsShared(layer));
  layer.mutable_analysis()->mutable_cost()->set_mac_count(16 * 16'384 - 1);
  EXPECT_FALSE(IsShared(layer));
  layer.mutable_analysis()->mutable_cost()->set_mac_count(16 * 16'384);
  EXPECT_TRUE(IsShared(layer));
}

TEST(DispatchNsTest, OfASharedLayerIsThatOfTheTeam) {
  v1::LayerReport layer;
  v1::Overhead overhead;
  layer.set_backend("eigen");
  AddTensor(*layer.mutable_analysis()->mutable_outputs(), "y", {16'384});
  EXPECT_EQ(DispatchNs(layer, overhead), std::nullopt);
  overhead.set_dispatch_ns(40);
  EXPECT_EQ(DispatchNs(layer, overhead), 40) << "one thread";
  overhead.set_team_dispatch_ns(2'000);
  EXPECT_EQ(DispatchNs(layer, overhead), 2'000);
  layer.set_backend("onednn");
  EXPECT_EQ(DispatchNs(layer, overhead), 40);
  layer.set_backend("eigen");
  layer.mutable_analysis()->mutable_outputs(0)->set_shape(0, 16'383);
  EXPECT_EQ(DispatchNs(layer, overhead), 40);
}

TEST(ElementwiseTest, ConvolutionAndSoftmaxAreNot) {
  for (const char* op : {"Add", "Swish", "HardSigmoid", "Softplus", "PRelu", "Sum", "Cast"}) {
    EXPECT_TRUE(IsElementwise(op)) << op;
  }
  EXPECT_FALSE(IsElementwise("Conv"));
  EXPECT_FALSE(IsElementwise("Softmax"));
}

}  // namespace
}  // namespace tinyprof
