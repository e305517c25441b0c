#include "kernels/base/utf8.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

TEST(ValidUtf8, LeavesWellFormedTextAlone) {
  for (const std::string text : {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                 "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(ValidUtf8(text, 100), text);
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  }
}

// Malformed sequences of RFC 3629: stray and missing continuations, overlong forms, surrogates,
// code points beyond U+10FFFF.
TEST(ValidUtf8, ReplacesEachMalformedByte) {
  EXPECT_EQ(ValidUtf8("a\xff z", 100), "a? z");
  EXPECT_EQ(ValidUtf8("\x80", 100), "?");
  EXPECT_EQ(ValidUtf8("\xc3", 100), "?");
  EXPECT_EQ(ValidUtf8("\xc3z", 100), "?z");
  EXPECT_EQ(ValidUtf8("\xc0\xaf", 100), "??");
  EXPECT_EQ(ValidUtf8("\xe0\x80\xaf", 100), "???");
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80", 100), "???");
  EXPECT_EQ(ValidUtf8("\xf4\x90\x80\x80", 100), "????");
  EXPECT_EQ(ValidUtf8("\xf5\x80\x80\x80", 100), "????");
}

TEST(IsValidUtf8, KnowsEachKindOfMalformedText) {
  for (const std::string text : {"a\xff z", "\x80", "\xc3", "\xc3z", "\xc0\xaf", "\xe0\x80\xaf",
                                 "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(IsValidUtf8(text));
  }
}

TEST(ValidUtf8, CutsAtTheBorderOfACharacter) {
  EXPECT_EQ(ValidUtf8("abc", 2), "ab");
  EXPECT_EQ(ValidUtf8("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(ValidUtf8("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
  EXPECT_EQ(ValidUtf8("abc", 0), "");
}

}  // namespace
}  // namespace tinyprof
