#include "daemon/roofline/tinytorch_rule.h"

#include <gtest/gtest.h>

#include <limits>

namespace tinyprof {
namespace {

TEST(TinyTorchRule, MoreThanAHundredfoldIsMemory) {
  EXPECT_EQ(TinyTorchRule(1.0, 10000), TinyTorchBottleneck::kMemory);
  EXPECT_EQ(TinyTorchRule(50, 100), TinyTorchBottleneck::kCompute);
}

TEST(TinyTorchRule, TieIsCompute) {
  EXPECT_EQ(TinyTorchRule(1.0, 100), TinyTorchBottleneck::kCompute);
  EXPECT_EQ(TinyTorchRule(0, 0), TinyTorchBottleneck::kCompute);
}

TEST(TinyTorchRule, NoNumberIsCompute) {
  EXPECT_EQ(TinyTorchRule(1, std::numeric_limits<double>::quiet_NaN()),
            TinyTorchBottleneck::kCompute);
}

TEST(TinyTorchRule, Names) {
  EXPECT_EQ(Name(TinyTorchBottleneck::kMemory), "memory");
  EXPECT_EQ(Name(TinyTorchBottleneck::kCompute), "compute");
}

}  // namespace
}  // namespace tinyprof
