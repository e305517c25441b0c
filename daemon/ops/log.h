// The daemon's log: one line an event on stderr, for people or for programs.
//
// Text: "2026-01-31T12:00:00.123Z info run_started id=..." (no time where journald adds its own).
// JSON: {"ts":...,"level":...,"event":...,<fields>}. Safe from many threads: a line is one write.
// The measuring process never logs; the daemon logs at the border of a run, not within it.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

enum class LogFormat { kText, kJson };
enum class LogLevel { kDebug, kInfo, kWarn, kError };

// INVALID_ARGUMENT / "BAD_VALUE" lists the names there are.
Result<LogFormat> LogFormatFromName(std::string_view name);
Result<LogLevel> LogLevelFromName(std::string_view name);

class Logger {
 public:
  using Fields = std::vector<std::pair<std::string_view, std::string>>;

  // Writes to `fd`, which stays the caller's.
  Logger(int fd, LogFormat format, LogLevel level);

  void set_level(LogLevel level) { level_ = level; }
  void Log(LogLevel level, std::string_view event, const Fields& fields = {}) const;
  void Debug(std::string_view event, const Fields& fields = {}) const {
    Log(LogLevel::kDebug, event, fields);
  }
  void Info(std::string_view event, const Fields& fields = {}) const {
    Log(LogLevel::kInfo, event, fields);
  }
  void Warn(std::string_view event, const Fields& fields = {}) const {
    Log(LogLevel::kWarn, event, fields);
  }
  void Failed(std::string_view event, const Error& error, Fields fields = {}) const;

 private:
  int fd_;
  LogFormat format_;
  bool with_time_;
  std::atomic<LogLevel> level_;
};

}  // namespace tinyprof
