// Dynamic quantization of networks whose bytes can be worked out by hand.
#include "kernels/quantization/dynamic_quantization.h"

#include <gmock/gmock.h>

#include "tests/unit/quantization/small_net.h"

namespace tinyprof {
namespace {

using testing::ElementsAre;
using Floats = std::vector<float>;

// x of 0 to 255 has steps of 1; weights 0.5 and -2 are 127 steps.
TEST(DynamicQuantizationTest, AConvolutionByHand) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 1, 1, 3});
  const ValueId y =
      net.Op("Conv", {x, net.Floats("w", {2, 1, 1, 1}, {0.5F, -2}), net.Floats("b", {2}, {1, -2})});
  const Graph quantized = QuantizeDynamic(std::move(net).Finish({y}), {true});
  ASSERT_THAT(OpsOf(quantized),
              ElementsAre("DynamicQuantizeLinear", "ConvInteger", "Cast", "Mul", "Mul", "Add"));
  EXPECT_EQ(ElementsOf<int8_t>(quantized, quantized.nodes[1].inputs[1]),
            (std::vector<int8_t>{127, -127}));
  const std::vector<float> got = RunOn(quantized, {0, 100.25F, 255});
  ASSERT_EQ(got.size(), 6U);
  const Floats wanted = {1, 51, 128.5F, -2, -202, -512};
  for (size_t i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(got[i], wanted[i]) << i;
}

TEST(DynamicQuantizationTest, AnActivationIsQuantizedOnceForAllItsReaders) {
  SmallNet net;
  const ValueId x = net.Input("x", {1, 2});
  const ValueId w = net.Floats("w", {2, 1}, {127, 254});
  const ValueId y = net.Op("Add", {net.Op("MatMul", {x, w}), net.Op("MatMul", {x, w})});
  const Graph quantized = QuantizeDynamic(std::move(net).Finish({y}), {true, true, false});
  ASSERT_THAT(OpsOf(quantized), ElementsAre("DynamicQuantizeLinear", "MatMulInteger", "Cast", "Mul",
                                            "Mul", "MatMulInteger", "Cast", "Mul", "Mul", "Add"));
  EXPECT_EQ(quantized.nodes[1].inputs[1], quantized.nodes[5].inputs[1]);
  // 127 / 2 is 63.5 steps, which become 64: 2 * (255 * 64 * 2).
  EXPECT_FLOAT_EQ(RunOn(quantized, {255, 0})[0], 65'280);
}

}  // namespace
}  // namespace tinyprof
