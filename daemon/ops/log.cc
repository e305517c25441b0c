#include "daemon/ops/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "kernels/base/utf8.h"

namespace tinyprof {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warn", "error"};

std::string Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(now.tv_sec),
                     now.tv_nsec / 1'000'000);
}

// A JSON string literal; invalid UTF-8 is replaced, so that a line always parses.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : ValidUtf8(text, text.size())) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

bool IsPlain(std::string_view text) {
  constexpr std::string_view kSpecial = " \"\\=";
  for (const char c : text) {
    if (c <= 0x20 || c == 0x7f || kSpecial.find(c) != kSpecial.npos) return false;
  }
  return !text.empty();
}

// journald names the device and inode of the stream it reads.
bool GoesToJournal(int fd) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  return stream && fstat(fd, &status) == 0 &&
         fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

}  // namespace

Result<LogFormat> LogFormatFromName(std::string_view name) {
  if (name == "text") return LogFormat::kText;
  if (name == "json") return LogFormat::kJson;
  return Fail(ErrorCode::kInvalidArgument, "BAD_VALUE",
              fmt::format("got '{}', wanted text or json", name));
}

Result<LogLevel> LogLevelFromName(std::string_view name) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (name == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return Fail(ErrorCode::kInvalidArgument, "BAD_VALUE",
              fmt::format("got '{}', wanted debug, info, warn or error", name));
}

Logger::Logger(int fd, LogFormat format, LogLevel level)
    : fd_(fd), format_(format), with_time_(!GoesToJournal(fd)), level_(level) {}

void Logger::Log(LogLevel level, std::string_view event, const Fields& fields) const {
  if (level < level_) return;
  const std::string_view level_name = kLevelNames[static_cast<size_t>(level)];
  std::string line;
  if (format_ == LogFormat::kJson) {
    line = fmt::format(R"({{"ts":"{}","level":"{}","event":{})", Now(), level_name, Quoted(event));
    for (const auto& [key, value] : fields)
      line += fmt::format(",{}:{}", Quoted(key), Quoted(value));
    line += "}\n";
  } else {
    line = fmt::format("{}{} {}", with_time_ ? Now() + ' ' : std::string(), level_name, event);
    for (const auto& [key, value] : fields) {
      line += fmt::format(" {}={}", key, IsPlain(value) ? value : Quoted(value));
    }
    line += '\n';
  }
  // A log that cannot be written has nowhere to say so.
  [[maybe_unused]] const ssize_t written = write(fd_, line.data(), line.size());
}

void Logger::Failed(std::string_view event, const Error& error, Fields fields) const {
  fields.emplace_back("error.reason", error.reason);
  fields.emplace_back("error.message", error.message);
  Log(LogLevel::kError, event, fields);
}

}  // namespace tinyprof
