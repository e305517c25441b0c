// Parsers of flags, the exit codes, SHA-256 and the nearest word.
#include "client/lib/parse.h"

#include <gtest/gtest.h>

#include "client/commands/suggest.h"
#include "client/lib/exit_code.h"
#include "client/lib/sha256.h"

namespace tinyprof::client {
namespace {

using std::chrono::nanoseconds;

TEST(ParseDuration, TakesEachUnit) {
  EXPECT_EQ(ParseDuration("10s").value(), nanoseconds(10'000'000'000));
  EXPECT_EQ(ParseDuration("500ms").value(), nanoseconds(500'000'000));
  EXPECT_EQ(ParseDuration("1.5m").value(), nanoseconds(90'000'000'000));
  EXPECT_EQ(ParseDuration("2h").value(), nanoseconds(7'200'000'000'000));
  EXPECT_EQ(ParseDuration("24h").value(), nanoseconds(86'400'000'000'000));
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text :
       {"",       "10",    "s",   "10 s",  " 10s", "10s ",  "-1s",
        "+1s",    "1e3s",  "0s",  "0.1ms", "25h",  "1.s",   ".5s",
        "1.2.3s", "10sec", "10S", "nans",  "infs", "0x10s", "999999999999999999999999999h"}) {
    const auto result = ParseDuration(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().message;
  }
}

TEST(ParsePercent, TakesSharesUpToTheWhole) {
  EXPECT_DOUBLE_EQ(ParsePercent("1%").value(), 0.01);
  EXPECT_DOUBLE_EQ(ParsePercent("0.5%").value(), 0.005);
  EXPECT_DOUBLE_EQ(ParsePercent("100%").value(), 1.0);
}

TEST(ParsePercent, RefusesEverythingElse) {
  for (const char* text :
       {"", "%", "1", "0.01", "0%", "-1%", "100.1%", "1 %", "1%%", "one%", "nan%"}) {
    EXPECT_FALSE(ParsePercent(text).has_value()) << text;
  }
}

TEST(ParseInputShape, SplitsNameAndDims) {
  const NamedShape named = ParseInputShape("data=1x3x224x224").value();
  EXPECT_EQ(named.name, "data");
  EXPECT_EQ(named.dims, (std::vector<int64_t>{1, 3, 224, 224}));
  const NamedShape bare = ParseInputShape("32x784").value();
  EXPECT_EQ(bare.name, "");
  EXPECT_EQ(bare.dims, (std::vector<int64_t>{32, 784}));
  EXPECT_EQ(ParseInputShape("a=b=7").value().name, "a=b");
}

TEST(ParseInputShape, RefusesWhatIsNoShape) {
  for (const char* text : {"", "=1x2", "1x", "x1", "0x3", "-1x3", "1,2", "1x2y", "a=", "1X2",
                           "9223372036854775808", "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1"}) {
    EXPECT_FALSE(ParseInputShape(text).has_value()) << text;
  }
}

TEST(ExitCodes, FollowTheContract) {
  const auto code = [](ErrorCode error) {
    return static_cast<int>(ExitCodeFor({error, "", "", {}}));
  };
  EXPECT_EQ(code(ErrorCode::kInvalidArgument), 2);
  EXPECT_EQ(code(ErrorCode::kNotFound), 2);
  EXPECT_EQ(code(ErrorCode::kUnavailable), 3);
  EXPECT_EQ(code(ErrorCode::kUnauthenticated), 4);
  EXPECT_EQ(code(ErrorCode::kPermissionDenied), 4);
  EXPECT_EQ(code(ErrorCode::kFailedPrecondition), 5);
  EXPECT_EQ(code(ErrorCode::kDeadlineExceeded), 124);
  EXPECT_EQ(code(ErrorCode::kInternal), 1);
  EXPECT_EQ(ExitCodeFor({ErrorCode::kUnavailable, "STORE_UNAVAILABLE", "", {}}),
            ExitCode::kPrecondition);
  // Found in the run, or after it.
  for (const ErrorCode found : {ErrorCode::kInvalidArgument, ErrorCode::kFailedPrecondition,
                                ErrorCode::kResourceExhausted}) {
    EXPECT_EQ(ExitCodeFor({found, "FILE_NOT_WRITABLE", "", {}}), ExitCode::kRunFailed);
  }
  EXPECT_EQ(ExitCodeFor({ErrorCode::kInvalidArgument, "NOT_FINITE", "", {}}), ExitCode::kRunFailed);
  EXPECT_EQ(ExitCodeFor({ErrorCode::kResourceExhausted, "RESULT_NOT_KEPT", "", {}}),
            ExitCode::kRunFailed);
}

// The vectors of FIPS 180-4's examples and of the empty message.
TEST(Sha256, GivesThePublishedDigests) {
  Sha256 empty;
  EXPECT_EQ(empty.HexDigest(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 abc;
  abc.Update("abc");
  EXPECT_EQ(abc.HexDigest(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 two_blocks;
  two_blocks.Update("abcdbcdecdefdefgefghfghighijhi");
  two_blocks.Update("jkijkljklmklmnlmnomnopnopq");
  EXPECT_EQ(two_blocks.HexDigest(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Nearest, FindsMistypedWordsOnly) {
  EXPECT_EQ(EditDistance("profile", "profiel"), 1);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(Nearest("profil", {"profile", "list"}), "profile");
  EXPECT_EQ(Nearest("--thread", {"--threads", "--timeout"}), "--threads");
  EXPECT_EQ(Nearest("zebra", {"profile", "list"}), "");
}

}  // namespace
}  // namespace tinyprof::client
