#include "daemon/measure/empty_layers.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

TEST(EmptyLayers, HaveASecondLayerForATeam) {
  for (const Backend backend : {Backend::kReference, Backend::kEigen}) {
    const auto one = EmptyLayers::Create({.backend = backend, .threads = 1});
    ASSERT_TRUE(one.has_value()) << one.error().message;
    EXPECT_EQ((*one)->node_count(), 1U);
    (*one)->RunAll();
    const auto two = EmptyLayers::Create({.backend = backend, .threads = 2});
    ASSERT_TRUE(two.has_value()) << two.error().message;
    EXPECT_EQ((*two)->node_count(), 2U);
    (*two)->RunAll();
  }
}

// Another graph's layouts would be read beyond its two values.
TEST(EmptyLayers, TakeNothingOfTheGraphOfTheSession) {
  const auto layers = EmptyLayers::Create({.layouts = std::vector<LayoutPtr>(1)});
  EXPECT_TRUE(layers.has_value()) << layers.error().message;
}

TEST(EmptyLayers, RunWhereKernelsWereChosenForTheGraphOfTheSession) {
  for (const size_t nodes : {0U, 1U, 3U}) {
    const auto layers = EmptyLayers::Create(
        {.backend = Backend::kBest, .choices = std::vector<KernelChoice>(nodes)});
    ASSERT_TRUE(layers.has_value()) << layers.error().message;
    (*layers)->RunAll();
  }
}

TEST(EmptyLayers, FailAsASessionDoes) {
  const auto none = EmptyLayers::Create({.threads = 0});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().reason, "BAD_THREADS");
  const auto no_memory = EmptyLayers::Create({.memory_limit_bytes = 1});
  ASSERT_FALSE(no_memory.has_value());
  EXPECT_EQ(no_memory.error().reason, "MODEL_TOO_LARGE");
}

}  // namespace
}  // namespace tinyprof
