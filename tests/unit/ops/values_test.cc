#include "daemon/ops/values.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

using namespace std::chrono_literals;

TEST(ByteCount, TakesBinarySuffixes) {
  EXPECT_EQ(ParseByteCount("1").value(), 1);
  EXPECT_EQ(ParseByteCount("512KiB").value(), 524288);
  EXPECT_EQ(ParseByteCount("4GiB").value(), 4294967296);
  EXPECT_EQ(ParseByteCount("8388607TiB").value(), 9223370937343148032);
}

TEST(ByteCount, RefusesWhatIsNoSize) {
  for (const char* text : {"", "0", "-1", "4GB", "GiB", "1.5GiB", " 1", "1 ", "0x10", "8388608TiB",
                           "9223372036854775808", "99999999999999999999"}) {
    const auto size = ParseByteCount(text);
    ASSERT_FALSE(size.has_value()) << text;
    EXPECT_EQ(size.error().reason, "BAD_VALUE");
    EXPECT_NE(size.error().message.find(text), std::string::npos);
  }
}

TEST(Duration, TakesWholeUnits) {
  EXPECT_EQ(ParseDuration("500ms").value(), 500ms);
  EXPECT_EQ(ParseDuration("30s").value(), 30s);
  EXPECT_EQ(ParseDuration("10m").value(), 600s);
  EXPECT_EQ(ParseDuration("24h").value(), 86400s);
  EXPECT_EQ(ParseDuration("0s").value(), 0s);
}

TEST(Duration, RefusesOtherUnitsAndOverflow) {
  for (const char* text : {"", "30", "1d", "25h", "-1s", "1.5s", "s", "9999999999999h"}) {
    EXPECT_FALSE(ParseDuration(text).has_value()) << text;
  }
}

TEST(FileMode, IsOctalPermissionBits) {
  EXPECT_EQ(ParseFileMode("0660").value(), 432u);
  EXPECT_EQ(ParseFileMode("600").value(), 384u);
  for (const char* text : {"", "60", "0880", "1777", "00660", "rw", "-660"}) {
    EXPECT_FALSE(ParseFileMode(text).has_value()) << text;
  }
}

TEST(Integer, HasARange) {
  EXPECT_EQ(ParseInteger("64", 1, 64).value(), 64);
  for (const char* text : {"0", "65", "", "x", "1e3", "-0", "+1"}) {
    EXPECT_FALSE(ParseInteger(text, 1, 64).has_value()) << text;
  }
}

}  // namespace
}  // namespace tinyprof
