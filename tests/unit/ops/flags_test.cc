#include "daemon/ops/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinyprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Flags> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tinyprofd");
  return ParseFlags(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Flags, NoneIsFine) {
  const auto flags = Parse({});
  ASSERT_TRUE(flags.has_value());
  EXPECT_TRUE(flags->config.texts.empty());
  EXPECT_TRUE(flags->config.file.empty());
  EXPECT_FALSE(flags->check_config || flags->print_config || flags->version || flags->help);
}

TEST(Flags, CollectTheTextsOfKeys) {
  const auto flags = Parse({"--listen", "unix:/a", "--listen=localhost:1", "--state-dir", "/s",
                            "--cpus", "1-3", "--log-format", "json", "--config", "/c"});
  ASSERT_TRUE(flags.has_value());
  EXPECT_THAT(flags->config.texts.at("listen"), ElementsAre("unix:/a", "localhost:1"));
  EXPECT_THAT(flags->config.texts.at("state_dir"), ElementsAre("/s"));
  EXPECT_THAT(flags->config.texts.at("cpus"), ElementsAre("1-3"));
  EXPECT_THAT(flags->config.texts.at("log_format"), ElementsAre("json"));
  EXPECT_EQ(flags->config.file, "/c");
}

TEST(Flags, UnknownArgumentsAreNamed) {
  for (const auto& arguments :
       std::vector<std::vector<const char*>>{{"--lisen", "x"}, {"--nope"}, {"stray"}, {"-x"}}) {
    const auto flags = Parse(arguments);
    ASSERT_FALSE(flags.has_value());
    EXPECT_EQ(flags.error().reason, "USAGE");
    EXPECT_THAT(flags.error().message, HasSubstr(arguments[0]));
    EXPECT_THAT(flags.error().message, HasSubstr("tinyprofd --help"));
  }
}

TEST(Flags, AListTakesOneValueAFlag) {
  const auto flags = Parse({"--listen", "unix:/a", "unix:/b"});
  ASSERT_FALSE(flags.has_value());
  EXPECT_THAT(flags.error().message, HasSubstr("unix:/b"));
}

TEST(Flags, AMissingValueIsAnError) {
  EXPECT_FALSE(Parse({"--state-dir"}).has_value());
  EXPECT_FALSE(Parse({"--listen"}).has_value());
}

TEST(Flags, AValueTwiceIsAnError) {
  EXPECT_FALSE(Parse({"--cpus", "1", "--cpus", "2"}).has_value());
}

TEST(Flags, HelpNamesEveryFlagAndExitCode) {
  const auto flags = Parse({"--help"});
  ASSERT_TRUE(flags.has_value());
  ASSERT_TRUE(flags->help.has_value());
  for (const char* text : {"--config", "--listen", "--state-dir", "--cpus", "--check-config",
                           "--print-config", "--log-format", "--log-level", "--version", "78"}) {
    EXPECT_THAT(*flags->help, HasSubstr(text));
  }
}

}  // namespace
}  // namespace tinyprof
