#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/graph/graph_builder.h"
#include "kernels/ops/conv/reference.h"
#include "kernels/ops/quantize/reference.h"
#include "kernels/runtime/layout_plan.h"
#include "kernels/runtime/session.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_case.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

OpCase::In Bytes(Shape shape, const std::vector<int>& elements, DType dtype = DType::kUInt8) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const int element : elements) bytes->push_back(static_cast<std::byte>(element));
  return {.type = {dtype, std::move(shape)},
          .fill = {.kind = Fill::Kind::kData, .data = std::move(bytes)}};
}

OpCase::In Int32s(Shape shape, const std::vector<int32_t>& elements) {
  const auto* bytes = reinterpret_cast<const std::byte*>(elements.data());
  return {.type = {DType::kInt32, std::move(shape)},
          .fill = {.kind = Fill::Kind::kData,
                   .data = std::make_shared<std::vector<std::byte>>(
                       bytes, bytes + elements.size() * sizeof(int32_t))}};
}

// The first output in every backend, which have to agree, as numbers.
std::vector<double> Output(const OpCase& op_case) {
  const Result<Graph> graph = BuildGraph(op_case);
  if (!graph) {
    ADD_FAILURE() << graph.error().message;
    return {};
  }
  std::vector<std::vector<double>> outputs;
  for (const Backend backend : {Backend::kReference, Backend::kEigen}) {
    const Result<std::unique_ptr<Session>> session = Session::Create(*graph, {.backend = backend});
    if (!session) {
      ADD_FAILURE() << session.error().message;
      return {};
    }
    (*session)->FillInputs();
    (*session)->RunAll();
    const ConstTensorView view = (*session)->output(0);
    outputs.push_back(ToDoubles(view.type.dtype, view.data, view.element_count()));
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  return outputs[0];
}

OpCase Case(const std::string& type, std::vector<OpCase::In> inputs, size_t output_count = 1) {
  return {
      .op_type = type, .inputs = std::move(inputs), .output_count = output_count, .widens = false};
}

OpCase::In Scale(float value) { return FloatsOf({}, {value}); }

TEST(Quantize, MatmulIntegerTakesOffTheZeroPoints) {
  // (A - 12) and B of the ONNX operator's own example.
  const OpCase op_case =
      Case("MatMulInteger", {Bytes({4, 3}, {11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0}),
                             Bytes({3, 2}, {1, 4, 2, 5, 3, 6}), Bytes({}, {12})});
  CheckOp(op_case);
  EXPECT_THAT(Output(op_case), ElementsAre(-38, -83, -44, -98, -50, -113, -56, -128));
  const Cost cost = CostOfCase(op_case);
  EXPECT_EQ(cost.int_op_count, 2 * 4 * 3 * 2);
  EXPECT_EQ(cost.flop_count(), 0);
}

TEST(Quantize, MatmulIntegerTakesAZeroPointForEachRowAndColumn) {
  const OpCase op_case = Case("MatMulInteger", {Bytes({2, 1}, {5, 7}), Bytes({1, 2}, {3, 9}),
                                                Bytes({2}, {1, 2}), Bytes({2}, {1, 4})});
  CheckOp(op_case);
  EXPECT_THAT(Output(op_case), ElementsAre(4 * 2, 4 * 5, 5 * 2, 5 * 5));
}

TEST(Quantize, ConvIntegerByHand) {
  const OpCase op_case = Case("ConvInteger", {Bytes({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10}),
                                              Bytes({1, 1, 2, 2}, {1, 1, 1, 1}), Bytes({}, {1})});
  CheckOp(op_case);
  EXPECT_THAT(Output(op_case), ElementsAre(12, 16, 24, 28));
  EXPECT_EQ(CostOfCase(op_case).int_op_count, 2 * 4 * 4);
}

TEST(Quantize, QLinearProductsRoundAndSaturate) {
  const auto matmul = [](float y_scale) {
    return Case("QLinearMatMul",
                {Bytes({1, 2}, {10, 20}), Scale(0.5F), Bytes({}, {0}), Bytes({2, 1}, {3, 4}),
                 Scale(1), Bytes({}, {1}), Scale(y_scale), Bytes({}, {7})});
  };
  // 10 * 2 + 20 * 3 = 80 at 0.5.
  EXPECT_THAT(Output(matmul(1)), ElementsAre(47));
  EXPECT_THAT(Output(matmul(16)), ElementsAre(9));  // 2.5 goes to the even 2
  EXPECT_THAT(Output(matmul(0.01F)), ElementsAre(255));
  const OpCase conv = Case("QLinearConv", {Bytes({1, 1, 1, 2}, {10, 20}), Scale(1), Bytes({}, {0}),
                                           Bytes({2, 1, 1, 1}, {1, 2}), FloatsOf({2}, {1, 0.5F}),
                                           Bytes({}, {0}), Scale(1), Bytes({}, {0})});
  EXPECT_THAT(Output(conv), ElementsAre(10, 20, 10, 20));
}

TEST(Quantize, LinearThereAndBack) {
  const OpCase quantize{
      .op_type = "QuantizeLinear",
      .inputs = {FloatsOf({6}, {0, 2, 3, 1000, -254, -1000}), Scale(2), Bytes({}, {128})},
      .widens = false};
  EXPECT_THAT(Output(quantize), ElementsAre(128, 129, 130, 255, 1, 0));
  EXPECT_THAT(
      Output(Case("DequantizeLinear", {Bytes({3}, {0, 128, 255}), Scale(2), Bytes({}, {128})})),
      ElementsAre(-256, 0, 254));
  const OpCase by_axis = Case("DequantizeLinear", {Bytes({1, 2, 2}, {1, 2, 3, 4}),
                                                   FloatsOf({2}, {1, 10}), Bytes({2}, {0, 1})});
  EXPECT_THAT(Output(by_axis), ElementsAre(1, 2, 20, 30));
  EXPECT_EQ(CostOfCase(quantize).flops, (FlopClasses{.add_mul_div = 6}));
  const OpCase wrong = Case("QuantizeLinear", {IntsOf({1}), Scale(1)});
  EXPECT_EQ(RefusalOf(wrong).reason, "DTYPE_MISMATCH");
  EXPECT_EQ(RefusalOf(Case("MatMulInteger", {Activation({1, 1}), Activation({1, 1})})).reason,
            "DTYPE_MISMATCH");
}

// Bytes of all sizes, the ends of the range among them.
OpCase::In SomeBytes(const Shape& shape, DType dtype, uint32_t seed, bool is_weight = false) {
  std::vector<int> elements;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    seed = seed * 1664525U + 1013904223U;
    elements.push_back(i % 7 == 3 ? (i % 2 == 0 ? 0x80 : 0xFF) : static_cast<int>(seed >> 24U));
  }
  OpCase::In in = Bytes(shape, elements, dtype);
  in.is_weight = is_weight;
  return in;
}

OpCase::In SomeScales(int64_t count, float most) {
  std::vector<float> scales;
  for (int64_t i = 0; i < count; ++i) scales.push_back(most / static_cast<float>(1 + i % 5));
  return FloatsOf(count == 1 ? Shape() : Shape{count}, scales, true);
}

// Weights without a zero point, as oneDNN takes them, and scales that are known before the run.
OpCase::In Symmetric(int64_t count) {
  OpCase::In in = Bytes(count == 1 ? Shape() : Shape{count},
                        std::vector<int>(static_cast<size_t>(count), 0), DType::kInt8);
  in.is_weight = true;
  return in;
}
OpCase::In Known(OpCase::In in) {
  in.is_weight = true;
  return in;
}

// Whether oneDNN may use dot products of 8-bit integers, which never leave their range.
bool OnednnHasDots() {
#if defined(__x86_64__)
  return CheckOnednnIsBuilt().has_value() && TestedOnednnIsa() == Isa::kAvx512 &&
         __builtin_cpu_supports("avx512vnni") != 0;
#else
  return false;
#endif
}

// It rounds after the zero point is added, which differs from ONNX where halves meet odd ones.
void CheckQuantized(OpCase op_case) {
  op_case.onednn_steps = 1;
  EXPECT_EQ(!OnednnImplementation(op_case).empty(), OnednnHasDots());
  CheckOp(op_case);
}

TEST(Quantize, SymmetricProductsRunOnOnednn) {
  for (const DType x : {DType::kUInt8, DType::kInt8}) {
    for (const Shape& shape : {Shape{83, 129}, Shape{2, 9, 129}, Shape{1, 129}}) {
      const OpCase::In a = SomeBytes(shape, x, 1);
      const OpCase::In b = Known(SomeBytes({129, 101}, DType::kInt8, 2));
      OpCase sums = Case("MatMulInteger", {a, b, SomeBytes({}, x, 3)});
      CheckOp(sums);
      EXPECT_EQ(!OnednnImplementation(sums).empty(), OnednnHasDots());
      sums.inputs[2] = Known(sums.inputs[2]);
      CheckOp(sums);
      EXPECT_EQ(!OnednnImplementation(sums).empty(), OnednnHasDots());
      CheckQuantized(
          Case("QLinearMatMul",
               {a, Known(Scale(0.01F)), Known(SomeBytes({}, x, 3)), b, SomeScales(101, 0.02F),
                Symmetric(101), Known(Scale(0.3F)), Known(SomeBytes({}, DType::kUInt8, 5))}));
    }
  }
}

// The network with the layouts that oneDNN likes best, which has to run all of it, to within
// `steps` of the naive kernels. Gives the operators that ran.
std::vector<std::string> CheckOnednnNet(const Graph& graph, double steps) {
  std::vector<std::string> ops;
  const auto truth = *Session::Create(graph, {.backend = Backend::kReference});
  truth->FillInputs();
  truth->RunAll();
  SessionOptions options{.backend = Backend::kOnednn, .isa = TestedOnednnIsa()};
  const Result<LayoutPlan> plan = PlanLayouts(graph, options);
  if (!plan) {
    ADD_FAILURE() << plan.error().message;
    return ops;
  }
  options.layouts = plan->layouts;
  const auto session = Session::Create(plan->graph, options);
  if (!session) {
    ADD_FAILURE() << session.error().message;
    return ops;
  }
  (*session)->FillInputs();
  (*session)->RunAll();
  for (size_t n = 0; n < plan->graph.nodes.size(); ++n) {
    ops.push_back(plan->graph.nodes[n].op_type);
    EXPECT_EQ((*session)->backend(n), Backend::kOnednn) << ops.back();
  }
  const auto numbers = [](const ConstTensorView& view) {
    return ToDoubles(view.type.dtype, view.data, view.element_count());
  };
  EXPECT_THAT(numbers((*session)->output(0)),
              Pointwise(DoubleNear(steps), numbers(truth->output(0))));
  return ops;
}

TEST(Quantize, SymmetricConvolutionsRunOnOnednn) {
  if (!OnednnHasDots()) GTEST_SKIP() << "oneDNN has no kernel for these here";
  using Ints = std::vector<int64_t>;
  struct Convolution {
    Shape x;
    Shape w;
    Attributes attributes;
  };
  for (const Convolution& conv :
       {Convolution{
            {2, 3, 11, 9}, {7, 3, 3, 3}, {{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}}},
        Convolution{{1, 64, 14, 14}, {33, 64, 1, 1}, {}},
        Convolution{{1, 192, 7, 9}, {16, 192, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
        Convolution{{1, 16, 31, 32},
                    {16, 1, 3, 3},
                    {{"group", int64_t{16}}, {"pads", Ints{1, 1, 1, 1}}}}}) {
    SCOPED_TRACE(conv.x.ToString());
    const int64_t channels = conv.w[0];
    const OpCase::In x = SomeBytes(conv.x, DType::kUInt8, 1);
    const OpCase::In w = Known(SomeBytes(conv.w, DType::kInt8, 2));
    OpCase sums = Case("ConvInteger", {x, w, Known(SomeBytes({}, DType::kUInt8, 3))});
    sums.attributes = conv.attributes;
    CheckOnednnNet(*BuildGraph(sums), 0);
    OpCase linear =
        Case("QLinearConv", {x, Known(Scale(0.01F)), Known(SomeBytes({}, DType::kUInt8, 3)), w,
                             SomeScales(channels, 0.02F), Symmetric(channels), Known(Scale(0.7F)),
                             Known(SomeBytes({}, DType::kUInt8, 5))});
    linear.attributes = conv.attributes;
    CheckOnednnNet(*BuildGraph(linear), 1);
    std::vector<int32_t> biases;
    for (int64_t i = 0; i < channels; ++i) biases.push_back(static_cast<int32_t>(i * 9973 - 40000));
    linear.inputs.push_back(Known(Int32s({channels}, biases)));
    CheckOnednnNet(*BuildGraph(linear), 1);
  }
}

// Odd sizes, beyond one panel of rows and columns, with and without packed weights.
TEST(Quantize, ProductsOfMatricesInEveryKernel) {
  struct Sizes {
    Shape a;
    Shape b;
    int64_t rows;
    int64_t columns;
  };
  for (const Sizes& sizes :
       {Sizes{{1, 7}, {7, 5}, 1, 5}, Sizes{{83, 129}, {129, 101}, 83, 101},
        Sizes{{3, 9, 64}, {64, 50}, 9, 50}, Sizes{{2, 3, 9, 8}, {3, 8, 49}, 9, 49},
        Sizes{{1, 600}, {600, 300}, 1, 300}, Sizes{{17, 1}, {1, 16}, 17, 16},
        Sizes{{5, 0}, {0, 3}, 5, 3}, Sizes{{5, 3}, {3, 0}, 5, 0}}) {
    SCOPED_TRACE(sizes.a.ToString());
    for (const bool is_weight : {false, true}) {
      for (const DType x : {DType::kUInt8, DType::kInt8}) {
        for (const DType w : {DType::kUInt8, DType::kInt8}) {
          const OpCase::In a = SomeBytes(sizes.a, x, 1);
          const OpCase::In b = SomeBytes(sizes.b, w, 2, is_weight);
          CheckOp(Case("MatMulInteger", {a, b}));
          CheckOp(Case("MatMulInteger", {a, b, SomeBytes({sizes.rows}, x, 3),
                                         SomeBytes({sizes.columns}, w, 4, is_weight)}));
          CheckOp(Case(
              "QLinearMatMul",
              {a, SomeScales(1, 0.01F), SomeBytes({}, x, 3), b, SomeScales(sizes.columns, 0.02F),
               SomeBytes({}, w, 4, is_weight), SomeScales(1, 0.3F), SomeBytes({}, x, 5)}));
        }
      }
    }
  }
}

TEST(Quantize, ProductsCountWhatTheirLoopsExecute) {
  using Ints = std::vector<int64_t>;
  const OpCase::In a = SomeBytes({2, 3, 4, 5}, DType::kUInt8, 1);
  const OpCase::In b = SomeBytes({3, 5, 6}, DType::kInt8, 2);
  const OpCase::In zero = Bytes({}, {3});
  const OpCase::In weight_zero = Bytes({}, {0}, DType::kInt8);
  CheckIntOps(Case("MatMulInteger", {a, b}), kIntegerRoles, &IntMatmulReference<Counted>);
  CheckIntOps(Case("QLinearMatMul", {a, Scale(1), zero, b, Scale(1), weight_zero, Scale(1), zero}),
              kLinearRoles, &IntMatmulReference<Counted>);
  const OpCase::In x = SomeBytes({2, 4, 6, 5}, DType::kUInt8, 1);
  const OpCase::In w = SomeBytes({6, 2, 3, 2}, DType::kInt8, 2);
  OpCase integer = Case("ConvInteger", {x, w});
  integer.attributes = {{"group", int64_t{2}}, {"strides", Ints{1, 2}}};
  CheckIntOps(integer, kIntegerRoles, &ConvReference<Counted>);
  OpCase linear =
      Case("QLinearConv", {x, Scale(1), zero, w, Scale(1), weight_zero, Scale(1), zero});
  linear.attributes = integer.attributes;
  CheckIntOps(linear, kLinearRoles, &ConvReference<Counted>);
  // A pad of one line above leaves out a line of taps, 2 wide, of each of the 2 places of the first
  // line of outputs: 2 images x 6 channels x 2 places x 2 input channels x 2 taps.
  linear.attributes["pads"] = Ints{1, 0, 0, 0};
  CheckIntOps(linear, kLinearRoles, &ConvReference<Counted>, 2 * (2 * 6 * 2 * 2 * 2));
}

// 16 x 16 taps are the most whose sums floats hold exactly: 256 products of 255 * 255 are below
// 2^24.
TEST(Quantize, DepthwiseConvolutionsHaveAKernelOfTheirOwn) {
  for (const auto& [kernel, own] : {std::pair{int64_t{3}, true}, {16, true}, {17, false}}) {
    const auto taps = static_cast<size_t>(kernel * kernel);
    const std::vector<int> most(2 * taps, 255);
    OpCase op_case = Case(
        "ConvInteger", {Bytes({1, 2, kernel, kernel}, most), Bytes({2, 1, kernel, kernel}, most)});
    op_case.attributes = {{"group", int64_t{2}}};
    const auto sum = static_cast<double>(255 * 255 * kernel * kernel);
    EXPECT_THAT(Output(op_case), ElementsAre(sum, sum));
    for (const Isa isa : HostIsas()) {
      const Result<Graph> graph = BuildGraph(op_case);
      const auto session = Session::Create(*graph, {.backend = Backend::kEigen, .isa = isa});
      ASSERT_TRUE(session.has_value());
      EXPECT_EQ((*session)->kernel(0).implementation() == "exact float depthwise", own);
    }
  }
}

// Strides, dilations, padding, groups, 1 to 3 axes; 4800 products of up to 255 * 255 are more than
// a float32 holds.
TEST(Quantize, ConvolutionsInEveryKernel) {
  using Ints = std::vector<int64_t>;
  struct Convolution {
    Shape x;
    Shape w;
    Attributes attributes;
  };
  for (const Convolution& conv :
       {Convolution{
            {2, 3, 11, 9}, {7, 3, 3, 3}, {{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}}},
        Convolution{{1, 64, 14, 14}, {33, 64, 1, 1}, {}},
        Convolution{{1, 192, 7, 9}, {9, 192, 5, 5}, {{"pads", Ints{2, 2, 2, 2}}}},
        Convolution{
            {1, 6, 31, 32}, {12, 1, 3, 3}, {{"group", int64_t{6}}, {"strides", Ints{2, 2}}}},
        Convolution{
            {2, 8, 13, 8}, {6, 4, 3, 2}, {{"group", int64_t{2}}, {"dilations", Ints{2, 3}}}},
        Convolution{
            {2, 5, 9, 70}, {5, 1, 3, 3}, {{"group", int64_t{5}}, {"pads", Ints{1, 1, 1, 1}}}},
        Convolution{{1, 3, 20, 41},
                    {6, 1, 3, 2},
                    {{"group", int64_t{3}},
                     {"strides", Ints{2, 3}},
                     {"dilations", Ints{1, 2}},
                     {"pads", Ints{0, 2, 1, 3}}}},
        Convolution{{1, 2, 5, 6, 7},
                    {2, 1, 3, 2, 3},
                    {{"group", int64_t{2}}, {"pads", Ints{1, 0, 2, 0, 1, 1}}}},
        Convolution{{1, 2, 17, 18}, {2, 1, 17, 16}, {{"group", int64_t{2}}}},
        Convolution{{2, 4, 50}, {6, 4, 5}, {{"strides", Ints{3}}}},
        Convolution{{1, 3, 5, 6, 7}, {4, 3, 3, 2, 3}, {}}}) {
    SCOPED_TRACE(conv.x.ToString());
    const int64_t channels = conv.w[0];
    for (const bool is_weight : {false, true}) {
      for (const DType type : {DType::kUInt8, DType::kInt8}) {
        const OpCase::In x = SomeBytes(conv.x, DType::kUInt8, 1);
        const OpCase::In w = SomeBytes(conv.w, type, 2, is_weight);
        OpCase integer = Case("ConvInteger", {x, w, SomeBytes({}, DType::kUInt8, 3),
                                              SomeBytes({channels}, type, 4, is_weight)});
        integer.attributes = conv.attributes;
        CheckOp(integer);
        OpCase linear = Case(
            "QLinearConv", {x, SomeScales(1, 0.01F), SomeBytes({}, DType::kUInt8, 3), w,
                            SomeScales(channels, 0.02F), SomeBytes({channels}, type, 4, is_weight),
                            SomeScales(1, 0.7F), SomeBytes({}, DType::kUInt8, 5)});
        linear.attributes = conv.attributes;
        CheckOp(linear);
        std::vector<int32_t> biases;
        for (int64_t i = 0; i < channels; ++i)
          biases.push_back(static_cast<int32_t>(i * 9973 - 40000));
        linear.inputs.push_back(Int32s({channels}, biases));
        CheckOp(linear);
      }
    }
  }
}

TEST(Quantize, ThereAndBackInEveryKernel) {
  const auto inputs = [](const Shape& x, int64_t scales, DType type) {
    return std::vector<OpCase::In>{Activation(x, 3), SomeScales(scales, 0.04F),
                                   SomeBytes(scales == 1 ? Shape() : Shape{scales}, type, 3)};
  };
  for (const DType type : {DType::kUInt8, DType::kInt8}) {
    for (const int64_t axis : {1, 2}) {
      const Shape shape = {3, 70, 301};
      for (const int64_t scales : {int64_t{1}, shape[static_cast<size_t>(axis)]}) {
        OpCase quantize = Case("QuantizeLinear", inputs(shape, scales, type));
        quantize.attributes = {{"axis", axis}};
        CheckOp(quantize);
        OpCase dequantize = Case("DequantizeLinear", inputs(shape, scales, type));
        dequantize.inputs[0] = SomeBytes(shape, type, 1);
        dequantize.attributes = {{"axis", axis}};
        CheckOp(dequantize);
      }
    }
  }
  CheckOp(Case("DequantizeLinear",
               {Int32s({3}, {INT32_MIN, 0, INT32_MAX}), Scale(0.5F), Int32s({}, {INT32_MAX})}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  CheckOp(Case("QuantizeLinear", {FloatsOf({5}, {nan, inf, -inf, 1e30F, 0.5F}), Scale(1)}));
}

TEST(Quantize, DynamicRangeByHandAndInEveryKernel) {
  // The example of ONNX: a range of -2.5 ... 2 in 255 steps.
  const OpCase small =
      Case("DynamicQuantizeLinear", {FloatsOf({6}, {0, 2, -3, -2.5F, 1.34F, 0.5F})}, 3);
  CheckOp(small);
  EXPECT_THAT(Output(small), ElementsAre(153, 255, 0, 26, 221, 179));
  CheckOp(Case("DynamicQuantizeLinear", {FloatsOf({2, 2}, {0, 0, 0, 0})}, 3));
  CheckOp(Case("DynamicQuantizeLinear", {Activation({301, 67}, 7)}, 3));
  CheckOp(Case("DynamicQuantizeLinear",
               {FloatsOf({3}, {std::numeric_limits<float>::quiet_NaN(), 1, 3})}, 3));
}

// x -> QLinearConv -> DequantizeLinear -> Relu -> QuantizeLinear -> QLinearConv
Graph SmallNet() {
  GraphBuilder builder("net", "layers");
  int count = 0;
  const auto add = [&](const OpCase::In& in) {
    return builder.Parameter(fmt::format("w{}", count++), in.type, in.fill);
  };
  const auto conv = [&](ValueId x, const Shape& w) {
    return builder.Op("QLinearConv",
                      {x, add(Scale(0.01F)), add(Bytes({}, {117})),
                       add(SomeBytes(w, DType::kInt8, 2)), add(SomeScales(w[0], 0.02F)),
                       add(Symmetric(w[0])), add(Scale(0.5F)), add(Bytes({}, {117}))},
                      {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  };
  const OpCase::In input = SomeBytes({1, 16, 12, 10}, DType::kUInt8, 1);
  ValueId y = conv(builder.Input("x", input.type, input.fill), {20, 16, 3, 3});
  y = builder.Op("DequantizeLinear", {y, add(Scale(0.5F)), add(Bytes({}, {117}))});
  y = builder.Op("Relu", {y});
  y = builder.Op("QuantizeLinear", {y, add(Scale(0.25F)), add(Bytes({}, {117}))});
  return *std::move(builder).Finish({conv(y, {8, 20, 3, 3})});
}

TEST(Quantize, OnednnKeepsItsLayoutsFromLayerToLayer) {
  if (!OnednnHasDots()) GTEST_SKIP() << "oneDNN has no kernel for these here";
  const Graph graph = SmallNet();
  EXPECT_THAT(CheckOnednnNet(graph, 1),
              ElementsAre("Reorder", "QLinearConv", "DequantizeLinear", "Relu", "QuantizeLinear",
                          "QLinearConv", "Reorder"));
}

}  // namespace
}  // namespace tinyprof
