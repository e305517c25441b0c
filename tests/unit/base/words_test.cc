#include "kernels/base/words.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

TEST(Counted, OnlyOneIsSingular) {
  EXPECT_EQ(Counted(0, "layer"), "0 layers");
  EXPECT_EQ(Counted(1, "layer"), "1 layer");
  EXPECT_EQ(Counted(2, "layer"), "2 layers");
  EXPECT_EQ(Counted(1, "pass", "passes"), "1 pass");
  EXPECT_EQ(Counted(11, "pass", "passes"), "11 passes");
}

TEST(SizeText, HasThreeDigitsAndAUnit) {
  EXPECT_EQ(SizeText(0), "0 B");
  EXPECT_EQ(SizeText(1), "1 B");
  EXPECT_EQ(SizeText(1023), "1023 B");
  EXPECT_EQ(SizeText(1024), "1 KiB");
  EXPECT_EQ(SizeText(1536), "1.50 KiB");
  EXPECT_EQ(SizeText(int64_t{1} << 20), "1 MiB");
  EXPECT_EQ(SizeText((int64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(SizeText(int64_t{99} << 19), "49.5 MiB");
  EXPECT_EQ(SizeText(int64_t{4} << 30), "4 GiB");
  EXPECT_EQ(SizeText(67'108'864'000), "62.5 GiB");
  EXPECT_EQ(SizeText(int64_t{1} << 62), "4 EiB");
  EXPECT_EQ(SizeText(INT64_MAX), "8.00 EiB");
}

}  // namespace
}  // namespace tinyprof
