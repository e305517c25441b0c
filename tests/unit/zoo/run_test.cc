// Synthetic weights must give activations that look like those of a trained network: finite, and
// neither vanishing nor exploding through all layers.
#include <cmath>

#include "kernels/runtime/session.h"
#include "tests/unit/zoo/zoo_test_util.h"

namespace tinyprof {
namespace {

class ZooRun : public testing::TestWithParam<const char*> {};

TEST_P(ZooRun, ActivationsStayFiniteAndNormal) {
  const Graph graph = Built(GetParam());
  Result<std::unique_ptr<Session>> session = Session::Create(graph, {.backend = Backend::kEigen});
  ASSERT_TRUE(session.has_value()) << session.error().message;
  (*session)->FillInputs();
  (*session)->RunAll();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ConstTensorView output = (*session)->output(i);
    ASSERT_EQ(output.type.dtype, DType::kFloat32);
    double square_sum = 0;
    for (int64_t j = 0; j < output.element_count(); ++j) {
      const auto element = static_cast<double>(output.As<float>()[j]);
      ASSERT_TRUE(std::isfinite(element)) << "output " << i << " element " << j;
      square_sum += element * element;
    }
    const double rms = std::sqrt(square_sum / static_cast<double>(output.element_count()));
    EXPECT_GT(rms, 1e-3);
    EXPECT_LT(rms, 1e3);
  }
}

INSTANTIATE_TEST_SUITE_P(Small, ZooRun,
                         testing::Values("mlp", "lenet", "resnet18:image=64", "resnet50:image=64",
                                         "alexnet", "bert-base:seq=8", "gpt2-small:seq=8",
                                         "tinygpt", "tinygpt:phase=decode,context=20",
                                         "gpt:seq=8,layers=2"));

}  // namespace
}  // namespace tinyprof
