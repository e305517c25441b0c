#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/ops/recurrent/reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <Cell cell>
void CountedCell(const NodeSignature& signature, const KernelArgs& args) {
  const RecurrentDims dims = RecurrentDimsOf(signature, cell);
  std::vector<Counted> scratch(static_cast<size_t>(RecurrentScratchElements(dims)));
  RecurrentLoop<Counted, cell>(dims, args, scratch.data());
}

struct CellType {
  std::string type;
  int64_t gates;
  size_t outputs;
  ReferenceFn counted;
};
const std::vector<CellType>& CellTypes() {
  static const std::vector<CellType> kTypes = {{"RNN", 1, 2, &CountedCell<Cell::kRnn>},
                                               {"GRU", 3, 2, &CountedCell<Cell::kGru>},
                                               {"LSTM", 4, 3, &CountedCell<Cell::kLstm>}};
  return kTypes;
}

struct Sizes {
  int64_t steps, batch, input, hidden;
};

enum class Operands { kRequired, kBias, kAll };

OpCase Recurrent(const CellType& cell, const Sizes& s, const std::string& direction,
                 Operands operands) {
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  OpCase op_case{.op_type = cell.type,
                 .attributes = {{"direction", direction}, {"hidden_size", s.hidden}},
                 .inputs = {Activation({s.steps, s.batch, s.input}),
                            WeightOf({directions, cell.gates * s.hidden, s.input}, 0.5),
                            WeightOf({directions, cell.gates * s.hidden, s.hidden}, 0.5)},
                 .output_count = cell.outputs};
  if (operands == Operands::kRequired) return op_case;
  op_case.inputs.push_back(WeightOf({directions, 2 * cell.gates * s.hidden}));
  if (operands == Operands::kBias) return op_case;
  op_case.inputs.push_back(Omitted());
  op_case.inputs.push_back(Activation({directions, s.batch, s.hidden}));
  if (cell.type == "LSTM") op_case.inputs.push_back(op_case.inputs.back());
  return op_case;
}

TEST(Recurrent, EveryCellAgreesInEveryDirection) {
  for (const CellType& cell : CellTypes()) {
    for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
      for (const Operands operands : {Operands::kRequired, Operands::kBias, Operands::kAll}) {
        for (const Sizes& sizes : {Sizes{1, 1, 1, 1}, Sizes{7, 1, 3, 17}, Sizes{3, 5, 17, 7},
                                   Sizes{2, 3, 64, 100}, Sizes{0, 2, 3, 4}}) {
          SCOPED_TRACE(cell.type + " " + direction);
          const OpCase op_case = Recurrent(cell, sizes, direction, operands);
          CheckOp(op_case);
          CheckCounts(op_case, cell.counted);
        }
      }
    }
  }
}

TEST(Recurrent, GruResetsBeforeOrAfterTheProduct) {
  for (const Operands operands : {Operands::kRequired, Operands::kAll}) {
    OpCase op_case = Recurrent(CellTypes()[1], {5, 3, 7, 17}, "bidirectional", operands);
    op_case.attributes["linear_before_reset"] = int64_t{1};
    CheckOp(op_case);
    CheckCounts(op_case, &CountedCell<Cell::kGru>);
  }
}

TEST(Recurrent, LstmGateProductsOfTheConvention) {
  const Cost cost =
      CostOfCase(Recurrent(CellTypes()[2], {100, 1, 64, 64}, "forward", Operands::kBias));
  EXPECT_EQ(cost.flops.mac, 3276800);
  EXPECT_EQ(cost.flops.bias, 100 * 4 * 64 * 2);
  EXPECT_EQ(cost.flops.transcendental, 100 * 64 * 5);
  EXPECT_EQ(cost.flops.add_mul_div, 100 * 64 * 10);
}

TEST(Recurrent, BothDirectionsCostTwice) {
  for (const CellType& cell : CellTypes()) {
    const Cost one = CostOfCase(Recurrent(cell, {5, 2, 3, 4}, "forward", Operands::kBias));
    const Cost two = CostOfCase(Recurrent(cell, {5, 2, 3, 4}, "bidirectional", Operands::kBias));
    EXPECT_EQ(one.flops.mac, 5 * 2 * cell.gates * 4 * 7);
    EXPECT_EQ(two.flop_count(), 2 * one.flop_count());
  }
}

double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

OpCase::In Lengths(const std::vector<int32_t>& lengths) {
  const auto* bytes = reinterpret_cast<const std::byte*>(lengths.data());
  return {.type = {DType::kInt32, Shape{static_cast<int64_t>(lengths.size())}},
          .fill = {.kind = Fill::Kind::kData,
                   .data = std::make_shared<std::vector<std::byte>>(
                       bytes, bytes + lengths.size() * sizeof(int32_t))}};
}

TEST(Recurrent, PeepholesAgreeAndCostWhatTheyExecute) {
  for (const std::string direction : {"forward", "bidirectional"}) {
    OpCase op_case = Recurrent(CellTypes()[2], {5, 3, 7, 9}, direction, Operands::kAll);
    op_case.inputs.push_back(WeightOf({direction == "forward" ? 1 : 2, 3 * 9}));
    op_case.has_eigen_kernel = false;
    CheckOp(op_case);
    CheckCounts(op_case, &CountedCell<Cell::kLstm>);
  }
}

// One unit, one step from a cell of 2: every product is 0 but those of the peepholes.
TEST(Recurrent, PeepholesByHand) {
  const OpCase op_case{
      .op_type = "LSTM",
      .inputs = {FloatsOf({1, 1, 1}, {0}), FloatsOf({1, 4, 1}, {0, 0, 0, 1}),
                 FloatsOf({1, 4, 1}, {0, 0, 0, 0}), FloatsOf({1, 8}, {0, 0, 0, 1, 0, 0, 0, 0}),
                 Omitted(), FloatsOf({1, 1, 1}, {0}), FloatsOf({1, 1, 1}, {2}),
                 FloatsOf({1, 3}, {0.5F, -1, 0.25F})},
      .output_count = 3,
      .has_eigen_kernel = false};
  const std::vector<std::vector<double>> got = TrueOutputs(op_case);
  const double cell = SigmoidOf(0.25 * 2) * 2 + SigmoidOf(0.5 * 2) * std::tanh(1);
  EXPECT_NEAR(got[2][0], cell, 1e-12);
  EXPECT_NEAR(got[1][0], SigmoidOf(-cell) * std::tanh(cell), 1e-12);
}

// A sequence that ends early has the states of one that is that long, in either direction, and 0
// after its end.
TEST(Recurrent, SequencesEndByThemselves) {
  for (const CellType& cell : CellTypes()) {
    for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
      SCOPED_TRACE(cell.type + " " + direction);
      OpCase whole = Recurrent(cell, {3, 1, 2, 4}, direction, Operands::kBias);
      OpCase early = Recurrent(cell, {5, 1, 2, 4}, direction, Operands::kBias);
      whole.inputs[0] = FloatsOf({3, 1, 2}, {1, 2, -3, 4, 5, -6});
      early.inputs[0] = FloatsOf({5, 1, 2}, {1, 2, -3, 4, 5, -6, 7, 8, 9, 10});
      early.inputs.push_back(Lengths({3}));
      early.has_eigen_kernel = false;
      CheckOp(early);
      const std::vector<std::vector<double>> want = TrueOutputs(whole);
      std::vector<std::vector<double>> got = TrueOutputs(early);
      const size_t used = want[0].size();
      EXPECT_THAT(
          std::vector<double>(got[0].begin() + static_cast<std::ptrdiff_t>(used), got[0].end()),
          testing::Each(0));
      got[0].resize(used);
      EXPECT_EQ(got, want);
    }
  }
}

TEST(Recurrent, ClippedCellsAgreeAndCostWhatTheyExecute) {
  for (const CellType& cell : CellTypes()) {
    for (const int64_t linear_before_reset : {0, 1}) {
      OpCase op_case = Recurrent(cell, {5, 3, 7, 9}, "bidirectional", Operands::kAll);
      op_case.attributes["clip"] = 0.25F;
      if (cell.type == "GRU") op_case.attributes["linear_before_reset"] = linear_before_reset;
      if (cell.type == "LSTM") op_case.inputs.push_back(WeightOf({2, 3 * 9}));
      op_case.has_eigen_kernel = false;
      CheckOp(op_case);
      CheckCounts(op_case, cell.counted);
      Cost clipped = CostOfCase(op_case);
      EXPECT_EQ(clipped.flops.minmax, 2 * 5 * 3 * 9 * cell.gates * 2);
    }
  }
}

// What goes into the activations of the gates is clipped, the state of an LSTM is not: it passes
// the threshold of 0.5 here.
TEST(Recurrent, ClipByHand) {
  const OpCase::In x = FloatsOf({1, 1, 1}, {2});
  const OpCase::In h0 = FloatsOf({1, 1, 1}, {0.25F});
  const Attributes clip = {{"clip", 0.5F}};
  const OpCase rnn{.op_type = "RNN",
                   .attributes = clip,
                   .inputs = {x, FloatsOf({1, 1, 1}, {-3}), FloatsOf({1, 1, 1}, {1})},
                   .has_eigen_kernel = false};
  EXPECT_THAT(TrueOutputs(rnn)[0], ElementsAre(DoubleNear(std::tanh(-0.5), 1e-12)));
  const OpCase lstm{
      .op_type = "LSTM",
      .attributes = clip,
      .inputs = {x, FloatsOf({1, 4, 1}, {5, -5, 5, 0.125F}), FloatsOf({1, 4, 1}, {0, 0, 0, 0}),
                 Omitted(), Omitted(), h0, FloatsOf({1, 1, 1}, {4})},
      .output_count = 3,
      .has_eigen_kernel = false};
  const std::vector<std::vector<double>> got = TrueOutputs(lstm);
  const double cell = SigmoidOf(0.5) * 4 + SigmoidOf(0.5) * std::tanh(0.25);
  EXPECT_NEAR(got[2][0], cell, 1e-12);
  EXPECT_NEAR(got[1][0], SigmoidOf(-0.5) * std::tanh(cell), 1e-12);
  const OpCase gru{.op_type = "GRU",
                   .attributes = clip,
                   .inputs = {x, FloatsOf({1, 3, 1}, {-4, 4, 3}), FloatsOf({1, 3, 1}, {0, 0, 1}),
                              Omitted(), Omitted(), h0},
                   .has_eigen_kernel = false};
  const double z = SigmoidOf(-0.5);
  EXPECT_THAT(TrueOutputs(gru)[0],
              ElementsAre(DoubleNear((1 - z) * std::tanh(0.5) + z * 0.25, 1e-12)));
}

// One unit, one input, two steps, by the formulas.
TEST(Recurrent, LstmByHand) {
  const OpCase op_case{
      .op_type = "LSTM",
      .inputs = {FloatsOf({2, 1, 1}, {1, -2}), FloatsOf({1, 4, 1}, {0.5F, 0.25F, 1, 2}),
                 FloatsOf({1, 4, 1}, {1, 0.5F, -1, 0.125F})},
      .output_count = 3};
  double h = 0, c = 0;
  std::vector<double> states;
  for (const double x : {1.0, -2.0}) {
    const double in = SigmoidOf(0.5 * x + h), out = SigmoidOf(0.25 * x + 0.5 * h);
    const double forget = SigmoidOf(x - h), candidate = std::tanh(2 * x + 0.125 * h);
    c = forget * c + in * candidate;
    h = out * std::tanh(c);
    states.push_back(h);
  }
  EXPECT_THAT(TrueOutputs(op_case),
              ElementsAre(ElementsAre(DoubleNear(states[0], 1e-12), DoubleNear(states[1], 1e-12)),
                          ElementsAre(DoubleNear(h, 1e-12)), ElementsAre(DoubleNear(c, 1e-12))));
}

TEST(Recurrent, GruAndRnnByHand) {
  const OpCase::In x = FloatsOf({1, 1, 1}, {2});
  const OpCase::In h0 = FloatsOf({1, 1, 1}, {0.5F});
  const OpCase gru{.op_type = "GRU",
                   .inputs = {x, FloatsOf({1, 3, 1}, {0.5F, 0.25F, 1}),
                              FloatsOf({1, 3, 1}, {1, 0.5F, -1}), Omitted(), Omitted(), h0}};
  const double z = SigmoidOf(1 + 0.5), r = SigmoidOf(0.5 + 0.25);
  const double candidate = std::tanh(2 - r * 0.5);
  EXPECT_THAT(TrueOutputs(gru)[0], ElementsAre(DoubleNear((1 - z) * candidate + z * 0.5, 1e-12)));
  const OpCase rnn{.op_type = "RNN",
                   .inputs = {x, FloatsOf({1, 1, 1}, {0.5F}), FloatsOf({1, 1, 1}, {3}),
                              FloatsOf({1, 2}, {0.25F, -1}), Omitted(), h0}};
  EXPECT_THAT(TrueOutputs(rnn)[0], ElementsAre(DoubleNear(std::tanh(1 + 1.5 - 0.75), 1e-12)));
}

TEST(Recurrent, RefusesWhatItDoesNotDoByName) {
  const auto refused = [](const std::string& name, Attribute value) {
    OpCase op_case = Recurrent(CellTypes()[2], {2, 1, 3, 4}, "forward", Operands::kBias);
    op_case.attributes[name] = std::move(value);
    return RefusalOf(op_case);
  };
  EXPECT_EQ(refused("layout", int64_t{1}).code, ErrorCode::kUnimplemented);
  EXPECT_THAT(refused("activations", std::string("Relu,Tanh,Tanh")).message,
              HasSubstr("activations Relu,Tanh,Tanh"));
  for (const float clip : {0.0F, -1.0F, NAN}) {
    EXPECT_EQ(refused("clip", clip).reason, "BAD_ATTRIBUTE");
  }
  EXPECT_EQ(refused("direction", std::string("sideways")).reason, "BAD_ATTRIBUTE");
  EXPECT_THAT(refused("hidden_size", int64_t{5}).message, HasSubstr("hidden_size is 5"));
  OpCase bias = Recurrent(CellTypes()[1], {2, 1, 3, 4}, "forward", Operands::kBias);
  bias.inputs[3] = WeightOf({1, 12});
  EXPECT_THAT(RefusalOf(bias).message, HasSubstr("B has shape 1x12, wanted 1x24"));
}

}  // namespace
}  // namespace tinyprof
