#include "kernels/base/cpu_list.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

TEST(CpuList, ExpandsRanges) {
  EXPECT_EQ(ParseCpuList("0").value(), (std::vector<int>{0}));
  EXPECT_EQ(ParseCpuList("1-3,5").value(), (std::vector<int>{1, 2, 3, 5}));
  EXPECT_EQ(ParseCpuList("4095").value(), (std::vector<int>{4095}));
}

TEST(CpuList, RefusesDoublesAndDisorder) {
  for (const char* text : {"", ",", "1,", "1,1", "3-1", "2,1", "1-2-3", "a", "-1", "1-", "4096",
                           "0-99999999999", "1, 2"}) {
    EXPECT_FALSE(ParseCpuList(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace tinyprof
