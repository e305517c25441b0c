#include "daemon/ops/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace tinyprof {
namespace {

// What `write` puts on a pipe, at most 64 KiB.
template <class Write>
std::string Logged(LogFormat format, LogLevel level, Write&& write_lines) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  {
    Logger logger(ends[1], format, level);
    write_lines(logger);
  }
  close(ends[1]);
  std::string text(65536, '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, read(ends[0], text.data(), text.size()))));
  close(ends[0]);
  return text;
}

TEST(Logger, TextQuotesWhatWouldBreakALine) {
  const std::string text = Logged(LogFormat::kText, LogLevel::kInfo, [](Logger& logger) {
    logger.Info("run_started", {{"id", "abc"}, {"model", "a b\nc"}, {"empty", ""}});
  });
  EXPECT_THAT(text,
              testing::MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9:]+[.][0-9]+Z info "
                                    "run_started id=abc model=\"a b\\\\u000ac\" empty=\"\"\n"));
}

TEST(Logger, JsonHoldsAnyText) {
  const std::string hostile = "q\"b\\n\n\x01 caf\xc3\xa9 bad\xff";
  const std::string text = Logged(LogFormat::kJson, LogLevel::kInfo, [&](Logger& logger) {
    logger.Warn("odd", {{"text", hostile}});
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const auto line = nlohmann::json::parse(text);
  EXPECT_EQ(line["level"], "warn");
  EXPECT_EQ(line["event"], "odd");
  EXPECT_EQ(line["text"], "q\"b\\n\n\x01 caf\xc3\xa9 bad?");
  EXPECT_THAT(line["ts"].get<std::string>(), testing::EndsWith("Z"));
}

TEST(Logger, LeavesOutWhatIsBelowTheLevel) {
  const std::string text = Logged(LogFormat::kText, LogLevel::kWarn, [](Logger& logger) {
    logger.Info("one");
    logger.Warn("two");
    logger.set_level(LogLevel::kDebug);
    logger.Debug("three");
  });
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("one")));
  EXPECT_THAT(text, testing::HasSubstr("two"));
  EXPECT_THAT(text, testing::HasSubstr("three"));
}

TEST(Logger, ErrorsHaveReasonAndMessage) {
  const std::string text = Logged(LogFormat::kJson, LogLevel::kError, [](Logger& logger) {
    logger.Failed("open", {ErrorCode::kInternal, "NO_DISK", "the disk is gone", {}}, {{"k", "v"}});
  });
  const auto line = nlohmann::json::parse(text);
  EXPECT_EQ(line["error.reason"], "NO_DISK");
  EXPECT_EQ(line["error.message"], "the disk is gone");
  EXPECT_EQ(line["k"], "v");
}

TEST(LogNames, AreChecked) {
  EXPECT_EQ(LogLevelFromName("warn").value(), LogLevel::kWarn);
  EXPECT_EQ(LogFormatFromName("json").value(), LogFormat::kJson);
  EXPECT_FALSE(LogLevelFromName("WARN").has_value());
  EXPECT_FALSE(LogLevelFromName("").has_value());
  EXPECT_FALSE(LogFormatFromName("xml").has_value());
}

}  // namespace
}  // namespace tinyprof
