#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/ops/elementwise/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

OpCase::In Integers(const std::vector<int64_t>& elements) { return IntsOf(elements); }

OpCase::In Bools(Shape shape) {
  return {.type = {DType::kBool, std::move(shape)}, .fill = Fill::Integers(2, 7)};
}

// One function of one operand.
struct UnaryCase {
  std::string type;
  ReferenceFn counted;
  double bound = 4;  // inputs are uniform in [-bound, bound)
  Attributes attributes = {};
};

std::vector<UnaryCase> UnaryCases() {
  return {
      {"Relu", &UnaryReference<Counted, Relu>},
      {"LeakyRelu", &UnaryReference<Counted, LeakyRelu>, 4, {{"alpha", 0.3F}}},
      {"Elu", &UnaryReference<Counted, Elu>, 4, {{"alpha", 1.5F}}},
      {"Sigmoid", &UnaryReference<Counted, Sigmoid>, 20},
      {"HardSigmoid", &UnaryReference<Counted, HardSigmoid>, 4, {{"beta", 0.4F}}},
      {"HardSwish", &UnaryReference<Counted, HardSwish>},
      {"Tanh", &UnaryReference<Counted, Tanh>, 10},
      {"Gelu", &GeluReference<Counted>},
      {"Gelu", &GeluReference<Counted>, 4, {{"approximate", std::string("tanh")}}},
      {"Softplus", &UnaryReference<Counted, Softplus>, 30},
      {"Swish", &UnaryReference<Counted, Swish>},
      {"Exp", &UnaryReference<Counted, Exp>},
      {"Erf", &UnaryReference<Counted, Erf>},
      {"Reciprocal", &UnaryReference<Counted, Reciprocal>},
      {"Celu", &UnaryReference<Counted, Celu>, 4, {{"alpha", 2.0F}}},
      {"Selu", &UnaryReference<Counted, Selu>},
      {"ThresholdedRelu", &UnaryReference<Counted, ThresholdedRelu>},
      {"Shrink", &UnaryReference<Counted, Shrink>, 4, {{"lambd", 1.5F}, {"bias", 0.25F}}},
      {"Softsign", &UnaryReference<Counted, Softsign>},
      {"Sin", &UnaryReference<Counted, Sin>},
      {"Cos", &UnaryReference<Counted, Cos>},
      {"Tan", &UnaryReference<Counted, Tan>, 1.2},
      {"Asin", &UnaryReference<Counted, Asin>, 1},
      {"Acos", &UnaryReference<Counted, Acos>, 1},
      {"Atan", &UnaryReference<Counted, Atan>},
      {"Sinh", &UnaryReference<Counted, Sinh>},
      {"Cosh", &UnaryReference<Counted, Cosh>},
      {"Asinh", &UnaryReference<Counted, Asinh>},
      {"Atanh", &UnaryReference<Counted, Atanh>, 0.9},
      {"Neg", &UnaryReference<Counted, Neg>},
      {"Abs", &UnaryReference<Counted, Abs>},
      {"Floor", &UnaryReference<Counted, Floor>},
      {"Ceil", &UnaryReference<Counted, Ceil>},
      {"Round", &UnaryReference<Counted, Round>},
      {"Sign", &UnaryReference<Counted, Sign>},
  };
}

TEST(Elementwise, EveryUnaryKernelAgreesWithTheTruthAndItsCost) {
  for (const UnaryCase& unary : UnaryCases()) {
    for (const Shape& shape :
         {Shape{}, Shape{1}, Shape{3, 7}, Shape{17, 37}, Shape{0, 3}, Shape{2, 100, 100}}) {
      OpCase op_case{.op_type = unary.type,
                     .attributes = unary.attributes,
                     .inputs = {Activation(shape, unary.bound)}};
      SCOPED_TRACE(shape.ToString());
      CheckOp(op_case);
      CheckCounts(op_case, unary.counted);
    }
  }
}

TEST(Elementwise, FunctionsOfPositiveNumbers) {
  const std::vector<float> positive = {0.001F, 0.5F, 1, 2, 3.5F, 100, 1e6F};
  const std::vector<std::pair<std::string, ReferenceFn>> functions = {
      {"Log", &UnaryReference<Counted, Log>}, {"Sqrt", &UnaryReference<Counted, Sqrt>}};
  for (const auto& [type, counted] : functions) {
    const OpCase op_case{.op_type = type, .inputs = {FloatsOf({7}, positive)}};
    CheckOp(op_case);
    CheckCounts(op_case, counted);
  }
}

double TruthOf(const std::string& type, float x, Attributes attributes = {}) {
  return TrueOutputs(
      {.op_type = type, .attributes = std::move(attributes), .inputs = {FloatsOf({1}, {x})}})[0][0];
}

TEST(Elementwise, ValuesByHand) {
  EXPECT_DOUBLE_EQ(TruthOf("Relu", -2), 0);
  EXPECT_NEAR(TruthOf("LeakyRelu", -2), -0.02, 1e-8);
  EXPECT_NEAR(TruthOf("Elu", -1), std::expm1(-1), 1e-12);
  EXPECT_DOUBLE_EQ(TruthOf("Sigmoid", 0), 0.5);
  EXPECT_DOUBLE_EQ(TruthOf("HardSigmoid", 10), 1);
  EXPECT_NEAR(TruthOf("HardSigmoid", 1), 0.7, 1e-7);
  EXPECT_DOUBLE_EQ(TruthOf("HardSwish", 3), 3);
  EXPECT_DOUBLE_EQ(TruthOf("HardSwish", -3), 0);
  EXPECT_NEAR(TruthOf("HardSwish", 1), 4.0 / 6, 1e-12);
  // Phi(1) of the normal distribution.
  EXPECT_NEAR(TruthOf("Gelu", 1), 0.8413447460685429, 1e-12);
  EXPECT_NEAR(TruthOf("Gelu", 1, {{"approximate", std::string("tanh")}}), 0.841192, 1e-6);
  EXPECT_NEAR(TruthOf("Softplus", 0), std::log(2.0), 1e-12);
  EXPECT_DOUBLE_EQ(TruthOf("Softplus", 1000), 1000);
  EXPECT_NEAR(TruthOf("Swish", 1), 1 / (1 + std::exp(-1.0)), 1e-12);
  EXPECT_DOUBLE_EQ(TruthOf("Round", 2.5F), 2);
  EXPECT_DOUBLE_EQ(TruthOf("Round", -1.5F), -2);
  EXPECT_DOUBLE_EQ(TruthOf("Sign", -0.25F), -1);
}

TEST(Elementwise, UnaryCostsFollowTheConvention) {
  const auto classes = [](const std::string& type, Attributes attributes = {}) {
    return CostOfCase(
               {.op_type = type, .attributes = std::move(attributes), .inputs = {Activation({10})}})
        .flops;
  };
  EXPECT_EQ(classes("Relu"), (FlopClasses{.minmax = 10}));
  EXPECT_EQ(classes("Sigmoid"), (FlopClasses{.add_mul_div = 20, .transcendental = 10}));
  EXPECT_EQ(classes("Tanh"), (FlopClasses{.transcendental = 10}));
  EXPECT_EQ(classes("Gelu"), (FlopClasses{.add_mul_div = 40, .transcendental = 10}));
  EXPECT_EQ(classes("Sqrt"), (FlopClasses{.add_mul_div = 10}));
  EXPECT_EQ(classes("Neg"), FlopClasses{});
}

// Operators of two operands that are broadcast.
struct BinaryCase {
  std::string type;
  ReferenceFn counted;
};

TEST(Elementwise, EveryBinaryKernelBroadcasts) {
  const std::vector<BinaryCase> cases = {{"Add", &FoldReference<Counted, Add>},
                                         {"Sub", &FoldReference<Counted, Sub>},
                                         {"Mul", &FoldReference<Counted, Mul>},
                                         {"Max", &FoldReference<Counted, Maximum>},
                                         {"Min", &FoldReference<Counted, Minimum>}};
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{3, 7}, {3, 7}},           // the same
      {{17, 37}, {}},             // a number
      {{}, {17, 37}},             // a number first
      {{5, 64}, {64}},            // a bias
      {{64}, {5, 64}},            // a bias first
      {{2, 3, 7, 7}, {3, 1, 1}},  // by channel
      {{2, 3, 7, 7}, {2, 1, 7, 1}},
      {{7, 1}, {1, 3}},  // both
      {{2, 1, 3, 1, 5}, {4, 1, 6, 1}},
      {{1, 1}, {1}},
      {{0, 3}, {3}},
      {{1, 100, 200}, {100, 200}},
      {{300, 1}, {100}},
  };
  for (const BinaryCase& binary : cases) {
    for (const auto& [a, b] : shapes) {
      SCOPED_TRACE(a.ToString() + " with " + b.ToString());
      const OpCase op_case{.op_type = binary.type, .inputs = {Activation(a), Activation(b)}};
      CheckOp(op_case);
      CheckCounts(op_case, binary.counted);
    }
  }
}

TEST(Elementwise, BroadcastMultiplyCosts1024) {
  const Cost cost = CostOfCase(
      {.op_type = "Mul", .inputs = {Activation({1, 16, 1, 1}), Activation({1, 16, 8, 8})}});
  EXPECT_EQ(cost.flop_count(), 1024);
  EXPECT_EQ(cost.input_bytes, 4 * (16 + 1024));
  EXPECT_EQ(cost.output_bytes, 4 * 1024);
}

TEST(Elementwise, BroadcastByHand) {
  const OpCase op_case{.op_type = "Sub",
                       .inputs = {FloatsOf({2, 1}, {10, 20}), FloatsOf({3}, {1, 2, 3})}};
  EXPECT_THAT(TrueOutputs(op_case)[0], ElementsAre(9, 8, 7, 19, 18, 17));
}

TEST(Elementwise, DivideAndPower) {
  const std::vector<float> positive = {0.5F, 1, 1.5F, 2, 3, 4};
  for (const std::string type : {"Div", "Pow"}) {
    const OpCase op_case{.op_type = type,
                         .inputs = {FloatsOf({2, 3}, positive), FloatsOf({3}, {0.5F, 2, 3})}};
    CheckOp(op_case);
    CheckCounts(op_case,
                type == "Div" ? &FoldReference<Counted, Div> : &FloatBinaryReference<Counted, Pow>);
  }
  EXPECT_THAT(
      TrueOutputs({.op_type = "Pow", .inputs = {FloatsOf({2}, {3, 4}), FloatsOf({}, {2})}})[0],
      ElementsAre(DoubleNear(9, 1e-12), DoubleNear(16, 1e-12)));
}

TEST(Elementwise, RestsPowersAndShiftsOfIntegers) {
  const auto result = [](const std::string& type, const std::vector<int64_t>& a,
                         const std::vector<int64_t>& b, Attributes attributes = {}) {
    return TrueOutputs({.op_type = type,
                        .attributes = std::move(attributes),
                        .inputs = {Integers(a), Integers(b)},
                        .has_eigen_kernel = false})[0];
  };
  EXPECT_THAT(result("Mod", {-4, 7, 5, 4, -7, 8, 1}, {2, -3, 8, -2, 3, 5, 0}),
              ElementsAre(0, -2, 5, 0, 2, 3, 0));
  EXPECT_THAT(result("Mod", {-7, 7, INT64_MIN}, {3, -3, -1}, {{"fmod", int64_t{1}}}),
              ElementsAre(-1, 1, 0));
  EXPECT_THAT(result("Pow", {2, -3, 7, -1, 2, 0}, {10, 3, 0, -3, -1, 0}),
              ElementsAre(1024, -27, 1, -1, 0, 1));
  const Attributes left = {{"direction", std::string("LEFT")}};
  const Attributes right = {{"direction", std::string("RIGHT")}};
  EXPECT_THAT(result("BitShift", {16, 4, 1}, {1, 2, 64}, left), ElementsAre(32, 16, 0));
  EXPECT_THAT(result("BitShift", {16, 4, 1}, {1, 2, 3}, right), ElementsAre(8, 1, 0));
  EXPECT_EQ(RefusalOf({.op_type = "Mod", .inputs = {Activation({1}), Activation({1})}}).reason,
            "BAD_ATTRIBUTE");
}

TEST(Elementwise, ClassesOfFloatsAndMeans) {
  const OpCase::In x = FloatsOf({4}, {1, NAN, INFINITY, -INFINITY});
  const auto result = [&](const std::string& type, Attributes attributes = {}) {
    return TrueOutputs({.op_type = type,
                        .attributes = std::move(attributes),
                        .inputs = {x},
                        .has_eigen_kernel = false})[0];
  };
  EXPECT_THAT(result("IsNaN"), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(result("IsInf"), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(result("IsInf", {{"detect_negative", int64_t{0}}}), ElementsAre(0, 0, 1, 0));
  const OpCase mean{.op_type = "Mean",
                    .inputs = {FloatsOf({2}, {1, 2}), FloatsOf({}, {5}), FloatsOf({1}, {3})},
                    .has_eigen_kernel = false};
  EXPECT_THAT(TrueOutputs(mean)[0], ElementsAre(3, DoubleNear(10.0 / 3, 1e-12)));
  CheckCounts(mean, &MeanReference<Counted>);
}

TEST(Elementwise, VariadicOperatorsFoldAllOperands) {
  const std::vector<BinaryCase> cases = {{"Max", &FoldReference<Counted, Maximum>},
                                         {"Min", &FoldReference<Counted, Minimum>},
                                         {"Sum", &FoldReference<Counted, Sum>}};
  for (const BinaryCase& variadic : cases) {
    for (size_t count = 1; count <= 4; ++count) {
      OpCase op_case{.op_type = variadic.type};
      const std::vector<Shape> shapes = {{3, 7}, {7}, {2, 1, 7}, {}};
      for (size_t i = 0; i < count; ++i) op_case.inputs.push_back(Activation(shapes[i]));
      CheckOp(op_case);
      CheckCounts(op_case, variadic.counted);
    }
  }
  const Cost cost =
      CostOfCase({.op_type = "Max", .inputs = {Activation({5}), Activation({5}), Activation({5})}});
  EXPECT_EQ(cost.flops, (FlopClasses{.minmax = 10}));
}

TEST(Elementwise, PReluBroadcastsItsSlopeToTheData) {
  const OpCase op_case{.op_type = "PRelu",
                       .inputs = {Activation({2, 3, 17, 7}), WeightOf({3, 1, 1})}};
  CheckOp(op_case);
  CheckCounts(op_case, &FloatBinaryReference<Counted, PRelu>);
  const Error refused =
      RefusalOf({.op_type = "PRelu", .inputs = {Activation({3}), WeightOf({2, 3})}});
  EXPECT_THAT(refused.message, HasSubstr("slope of shape 2x3"));
}

TEST(Elementwise, ClipTakesNoneOneOrTwoBounds) {
  const OpCase::In x = Activation({17, 37}, 3);
  const OpCase::In low = FloatsOf({}, {-1});
  const OpCase::In high = FloatsOf({}, {0.5F});
  const std::vector<std::pair<std::vector<OpCase::In>, int64_t>> cases = {
      {{x}, 0}, {{x, low}, 1}, {{x, Omitted(), high}, 1}, {{x, low, high}, 2}};
  for (const auto& [inputs, sides] : cases) {
    const OpCase op_case{.op_type = "Clip", .inputs = inputs};
    CheckOp(op_case);
    CheckCounts(op_case, &ClipReference<Counted>);
    EXPECT_EQ(CostOfCase(op_case).flops, (FlopClasses{.minmax = sides * 17 * 37}));
  }
  const OpCase old{.op_type = "Clip",
                   .attributes = {{"min", 0.0F}, {"max", 6.0F}},
                   .inputs = {FloatsOf({3}, {-1, 3, 9})}};
  CheckOp(old);
  EXPECT_THAT(TrueOutputs(old)[0], ElementsAre(0, 3, 6));
}

TEST(Elementwise, ComparisonsGiveBoolsAndCostNoFlops) {
  const OpCase::In a = FloatsOf({2, 3}, {1, 2, 3, 4, 5, 6});
  const OpCase::In b = FloatsOf({3}, {1, 5, 3});
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"Equal", {1, 0, 1, 0, 1, 0}},       {"Greater", {0, 0, 0, 1, 0, 1}},
      {"Less", {0, 1, 0, 0, 0, 0}},        {"GreaterOrEqual", {1, 0, 1, 1, 1, 1}},
      {"LessOrEqual", {1, 1, 1, 0, 1, 0}},
  };
  for (const auto& [type, want] : cases) {
    const OpCase op_case{.op_type = type, .inputs = {a, b}, .has_eigen_kernel = false};
    CheckOp(op_case);
    EXPECT_EQ(TrueOutputs(op_case)[0], want) << type;
    const Cost cost = CostOfCase(op_case);
    EXPECT_EQ(cost.flop_count(), 0);
    EXPECT_EQ(cost.flops.compare, 6);
    EXPECT_EQ(cost.output_bytes, 6);
  }
}

TEST(Elementwise, LogicalOperators) {
  const auto bools = [](std::vector<std::byte> bytes) {
    const auto count = static_cast<int64_t>(bytes.size());
    return OpCase::In{
        .type = {DType::kBool, {count}},
        .fill = {.kind = Fill::Kind::kData,
                 .data = std::make_shared<const std::vector<std::byte>>(std::move(bytes))},
        .is_weight = true};
  };
  constexpr std::byte t{1}, f{0};
  const auto truth = [](const std::string& type, std::vector<OpCase::In> inputs) {
    const OpCase op_case{.op_type = type, .inputs = std::move(inputs), .has_eigen_kernel = false};
    CheckOp(op_case);
    return TrueOutputs(op_case)[0];
  };
  EXPECT_THAT(truth("And", {bools({t, t, f, f}), bools({t, f, t, f})}), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(truth("Or", {bools({t, t, f, f}), bools({t, f, t, f})}), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(truth("Not", {bools({t, f})}), ElementsAre(0, 1));
}

TEST(Elementwise, IntegersWrapAndNeverTrap) {
  constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
  const auto truth = [](const std::string& type, const std::vector<int64_t>& a,
                        const std::vector<int64_t>& b) {
    const OpCase op_case{.op_type = type, .inputs = {Integers(a), Integers(b)}};
    EXPECT_EQ(CostOfCase(op_case).flop_count(), 0);
    return TrueOutputs(op_case)[0];
  };
  EXPECT_THAT(truth("Add", {kMax, 2}, {1, 3}), ElementsAre(static_cast<double>(kMin), 5));
  EXPECT_THAT(truth("Mul", {3}, {-4}), ElementsAre(-12));
  EXPECT_THAT(truth("Div", {kMin, 7, 7, -7}, {-1, 0, 2, 2}),
              ElementsAre(static_cast<double>(kMin), 0, 3, -3));
  EXPECT_THAT(truth("Sub", {kMin}, {1}), ElementsAre(static_cast<double>(kMax)));
  EXPECT_THAT(TrueOutputs({.op_type = "Abs", .inputs = {Integers({-5, 5, 0})}})[0],
              ElementsAre(5, 5, 0));
}

TEST(Elementwise, WhereSelectsByBroadcastCondition) {
  for (const Shape& condition : {Shape{17, 37}, Shape{37}, Shape{17, 1}, Shape{}}) {
    CheckOp({.op_type = "Where",
             .inputs = {Bools(condition), Activation({17, 37}), Activation({37})},
             .has_eigen_kernel = false});
  }
  CheckOp({.op_type = "Where",
           .inputs = {Bools({1, 300, 300}), Activation({2, 300, 300}), FloatsOf({}, {-1e9F})},
           .has_eigen_kernel = false});
}

TEST(Elementwise, CastTruncatesAndClamps) {
  const auto cast = [](int64_t to, OpCase::In input) {
    const OpCase op_case{.op_type = "Cast",
                         .attributes = {{"to", to}},
                         .inputs = {std::move(input)},
                         .has_eigen_kernel = false};
    EXPECT_EQ(CostOfCase(op_case).flop_count(), 0);
    return TrueOutputs(op_case)[0];
  };
  const OpCase::In floats = FloatsOf({6}, {-1.75F, 1.75F, 0, 300, -1e30F, NAN});
  EXPECT_THAT(cast(7, floats), ElementsAre(-1, 1, 0, 300, static_cast<double>(INT64_MIN), 0));
  EXPECT_THAT(cast(2, floats), ElementsAre(0, 1, 0, 255, 0, 0));
  EXPECT_THAT(cast(3, floats), ElementsAre(-1, 1, 0, 127, -128, 0));
  EXPECT_THAT(cast(9, floats), ElementsAre(1, 1, 0, 1, 1, 1));
  EXPECT_THAT(cast(1, Integers({-3, 1 << 20})), ElementsAre(-3, 1 << 20));
  EXPECT_THAT(cast(9, Integers({0, -2})), ElementsAre(0, 1));
}

TEST(Elementwise, CastToStringIsRefusedByName) {
  const Error refused = RefusalOf(
      {.op_type = "Cast", .attributes = {{"to", int64_t{8}}}, .inputs = {Activation({1})}});
  EXPECT_EQ(refused.code, ErrorCode::kUnimplemented);
  EXPECT_THAT(refused.message, HasSubstr("data type 8"));
}

TEST(Elementwise, IdentityAndDropoutCopy) {
  for (const Shape& shape : {Shape{17, 37}, Shape{0}, Shape{}, Shape{200, 200}}) {
    CheckOp({.op_type = "Identity", .inputs = {Activation(shape)}, .has_eigen_kernel = false});
  }
  const OpCase dropout{.op_type = "Dropout",
                       .inputs = {FloatsOf({2}, {1.5F, -2}), FloatsOf({}, {0.5F}, true)},
                       .output_count = 2,
                       .has_eigen_kernel = false};
  EXPECT_THAT(TrueOutputs(dropout), ElementsAre(ElementsAre(1.5, -2), ElementsAre(1, 1)));
}

// What is refused, and what the message says.
struct Refusal {
  OpCase op_case;
  std::string reason;
  std::string message;
};

TEST(Elementwise, BadOperandsAreRefusedWithWhatWasWanted) {
  const std::vector<Refusal> refusals = {
      {{.op_type = "Add", .inputs = {Activation({3}), Activation({4})}},
       "SHAPE_MISMATCH",
       "3 and 4 cannot be broadcast"},
      {{.op_type = "Add", .inputs = {Activation({3}), Integers({1, 2, 3})}},
       "DTYPE_MISMATCH",
       "wants float32 for input 1, got int64"},
      {{.op_type = "Add", .inputs = {Activation({3})}}, "BAD_INPUT_COUNT", "takes 2 to 2 inputs"},
      {{.op_type = "Relu", .inputs = {Integers({1})}}, "DTYPE_MISMATCH", "got int64"},
      {{.op_type = "Add", .inputs = {Activation({1, 1, 1, 1, 1, 1, 1, 1, 1}), Activation({1})}},
       "SHAPE_MISMATCH",
       "9 dimensions, wanted 0 to 8"},
      {{.op_type = "Add", .inputs = {Activation({1 << 20, 1}), Activation({1, 1 << 21})}},
       "SHAPE_MISMATCH",
       "more than 2^40 elements"},
      {{.op_type = "Gelu",
        .attributes = {{"approximate", std::string("fast")}},
        .inputs = {Activation({1})}},
       "BAD_ATTRIBUTE",
       "\"fast\""},
      {{.op_type = "Swish", .attributes = {{"alpha", 2.0F}}, .inputs = {Activation({1})}},
       "ATTRIBUTE_NOT_SUPPORTED",
       "alpha 2"},
      {{.op_type = "Clip", .inputs = {Activation({2}), Activation({2})}},
       "SHAPE_MISMATCH",
       "min has shape 2, wanted one element"},
      {{.op_type = "Clip", .attributes = {{"max", 2.0F}}, .inputs = {Integers({1, 2, 3})}},
       "BAD_ATTRIBUTE",
       "bounds of integers are inputs"},
      {{.op_type = "And", .inputs = {Activation({2}), Activation({2})}},
       "DTYPE_MISMATCH",
       "wants bool"},
      {{.op_type = "Max", .inputs = {Activation({2}), Omitted(), Activation({2})}},
       "BAD_INPUT_COUNT",
       "no input 1"},
  };
  for (const Refusal& refusal : refusals) {
    const Error error = RefusalOf(refusal.op_case);
    EXPECT_EQ(error.reason, refusal.reason);
    EXPECT_THAT(error.message, HasSubstr(refusal.message));
  }
}

}  // namespace
}  // namespace tinyprof
