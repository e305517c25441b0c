#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/ops/signal/fourier_reference.h"
#include "tests/unit/kernels/counted.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

OpCase Signal(const std::string& type, std::vector<OpCase::In> inputs, Attributes attributes = {}) {
  return {.op_type = type, .attributes = std::move(attributes), .inputs = std::move(inputs)};
}

MATCHER_P(Within, tolerance, "") {
  return std::fabs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance;
}

TEST(Signal, TransformsByHand) {
  const OpCase impulse = Signal("DFT", {FloatsOf({1, 4, 1}, {0, 1, 0, 0})});
  CheckOp(impulse);
  // exp(-i pi k / 2).
  EXPECT_THAT(TrueOutputs(impulse)[0],
              Pointwise(Within(1e-12), std::vector<double>{1, 0, 0, -1, -1, 0, 0, 1}));
  const OpCase back =
      Signal("DFT", {FloatsOf({1, 4, 2}, {1, 0, 0, -1, -1, 0, 0, 1})}, {{"inverse", int64_t{1}}});
  CheckOp(back);
  EXPECT_THAT(TrueOutputs(back)[0],
              Pointwise(Within(1e-7), std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(CostOfCase(impulse).flops, (FlopClasses{.mac = 4 * 4 * 2}));
  EXPECT_EQ(CostOfCase(back).flops, (FlopClasses{.mac = 4 * 4 * 4, .add_mul_div = 8}));
}

TEST(Signal, FramesAreWeightedAndTransformed) {
  const OpCase op_case =
      Signal("STFT", {FloatsOf({1, 4, 1}, {1, 2, 3, 4}), IntsOf({2}), FloatsOf({2}, {1, 10})});
  CheckOp(op_case);
  EXPECT_THAT(TrueOutputs(op_case)[0],
              Pointwise(Within(1e-12), std::vector<double>{21, 0, -19, 0, 43, 0, -37, 0}));
  EXPECT_EQ(CostOfCase(op_case).flops, (FlopClasses{.mac = 2 * 2 * 2 * 2, .add_mul_div = 4}));
}

TEST(Signal, LongerTransformsAgree) {
  for (const int64_t parts : {1, 2}) {
    for (const int64_t inverse : {0, 1}) {
      OpCase op_case = Signal("DFT", {Activation({9, 60, parts}), IntsOf({64})},
                              {{"inverse", inverse}, {"onesided", parts == 1 ? 1 - inverse : 0}});
      op_case.tolerance = 1e-4;
      CheckOp(op_case);
      // Along an axis with others behind it the naive kernel runs.
      op_case.inputs[0] = Activation({3, 30, 4, parts});
      op_case.has_eigen_kernel = false;
      CheckOp(op_case);
    }
  }
  OpCase frames = Signal("STFT", {Activation({3, 400, 1}), IntsOf({50}), Activation({100})});
  frames.tolerance = 1e-4;
  CheckOp(frames);
}

template <Result<FourierShape> (*shape_of)(const NodeSignature& signature)>
void CountedFourier(const NodeSignature& signature, const KernelArgs& args) {
  const FourierLoop<Counted> loop(*shape_of(signature));
  std::vector<Counted> frame(static_cast<size_t>(loop.frame_elements()));
  const bool has_window = signature.node->op_type == "STFT" && args.has_input(2);
  for (int64_t row = 0; row < loop.row_count(); ++row) {
    loop.RunRow(row, args.In<Counted>(0), has_window ? args.In<Counted>(2) : nullptr, frame.data(),
                args.Out<Counted>());
  }
}

TEST(Signal, CountsWhatTheLoopExecutes) {
  for (const int64_t parts : {1, 2}) {
    for (const int64_t inverse : {0, 1}) {
      const Attributes attributes = {{"inverse", inverse}};
      CheckCounts(Signal("DFT", {Activation({3, 10, parts})}, attributes),
                  &CountedFourier<&DftShapeOf>);
      // 10 of 16 samples are there, the others are padding; 10 of 7 are cut.
      for (const int64_t length : {16, 7}) {
        CheckCounts(Signal("DFT", {Activation({3, 10, 4, parts}), IntsOf({length})}, attributes),
                    &CountedFourier<&DftShapeOf>, Executes::kValidTaps);
      }
    }
    const Attributes two_sided = {{"onesided", int64_t{0}}};
    CheckCounts(
        Signal("STFT", {Activation({2, 40, parts}), IntsOf({5}), Activation({12})}, two_sided),
        &CountedFourier<&StftShapeOf>);
    CheckCounts(Signal("STFT", {Activation({2, 40, parts}), IntsOf({5}), Omitted(), IntsOf({12})},
                       two_sided),
                &CountedFourier<&StftShapeOf>);
  }
}

TEST(Signal, WindowsByHand) {
  const auto window = [](const std::string& type, int64_t periodic) {
    return TrueOutputs(Signal(type, {IntsOf({4})}, {{"periodic", periodic}}))[0];
  };
  const auto near = [](double value) { return DoubleNear(value, 1e-7); };
  EXPECT_THAT(window("HannWindow", 1), ElementsAre(near(0), near(0.5), near(1), near(0.5)));
  EXPECT_THAT(window("HannWindow", 0), ElementsAre(near(0), near(0.75), near(0.75), near(0)));
  EXPECT_THAT(window("BlackmanWindow", 1), ElementsAre(near(0), near(0.34), near(1), near(0.34)));
}

}  // namespace
}  // namespace tinyprof
