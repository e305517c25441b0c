#include "daemon/jobs/daemon_checks.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "daemon/counters/checks.h"
#include "daemon/counters/counter_errors.h"

namespace tinyprof {
namespace {

constexpr const char* kCalibrate = "tinyprof-client counters --calibrate";

// "2026-11-30 15:04:05 UTC".
std::string TimeText(const google::protobuf::Timestamp& time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(google::protobuf::util::TimeUtil::TimestampToTimeT(time)));
}

std::string_view CodeOf(std::string_view reason) { return reason.substr(0, reason.find(':')); }

// Whether counting was tried and came out wrong, which no look at the machine tells.
bool IsFoundByCounting(std::string_view reason) {
  constexpr std::array<std::string_view, 6> kFound = {"NEVER_MOVES",       "IMPLAUSIBLE",
                                                      "NOT_CALIBRATED",    "NO_TIME",
                                                      "CALIBRATION_STUCK", "CALIBRATION_CRASHED"};
  return std::find(kFound.begin(), kFound.end(), CodeOf(reason)) != kFound.end();
}

std::string ErrnoOf(const Error& error) {
  const auto found = error.metadata.find("errno");
  return found == error.metadata.end() ? "" : found->second;
}

// The command that lets a worker be started; empty: there is none.
std::string FixOfWorker(const Error& error, const SystemFacts& facts) {
  if (const auto fix = error.metadata.find("fix"); fix != error.metadata.end()) return fix->second;
  const std::string number = ErrnoOf(error);
  for (const int file_errno : {EMFILE, ENFILE}) {
    if (number == std::to_string(file_errno)) {
      RefusalContext context = ContextOf(facts);
      context.events_off.reset();
      return ExplainErrno(file_errno, context).fix;
    }
  }
  return "";
}

}  // namespace

Refusal WhyNotTried(const Error& error, const SystemFacts& facts) {
  if (error.reason == "SECCOMP") {
    return SeccompRefusal("a seccomp filter ends a process that calls perf_event_open",
                          ContextOf(facts));
  }
  return {"NOT_TRIED", "no event was tried, since the worker that would have failed", ""};
}

DiagnosticCheck CheckWorker(const std::optional<Error>& error, const SystemFacts& facts) {
  const std::string name = "worker";
  if (!error) return CheckOk(name, "it starts and answers");
  const std::string found = fmt::format("{}: {}", error->reason, error->message);
  if (error->reason == "SECCOMP") {
    return CheckUnmendable(name, CheckState::kFail, found,
                           "only what opens no perf event works, as runs without counters do",
                           "the check 'seccomp' says more");
  }
  const std::string why = "what is counted, and whether events can be, is not known";
  if (const std::string fix = FixOfWorker(*error, facts); !fix.empty()) {
    return {name, CheckState::kFail, found, why + "; then start tinyprofd anew", fix};
  }
  return CheckUnmendable(name, CheckState::kFail, found, why,
                         "what stopped it is not known beyond that; the log of tinyprofd may say "
                         "more");
}

DiagnosticCheck CheckCalibration(const LastCalibration& last,
                                 const std::optional<std::string>& unusable_now) {
  const std::string name = "calibration";
  const bool countable_now = unusable_now.has_value() && unusable_now->empty();
  if (!last.found && !last.failure) {
    return CheckSkipped(name,
                        "the first one since tinyprofd was started goes on or waits its turn");
  }
  if (!last.found) {
    const std::string found =
        fmt::format("none: {}: {}", last.failure->reason, last.failure->message);
    const std::string why = "each run calibrates by itself, which takes its time, or fails";
    if (unusable_now) return {name, CheckState::kFail, found, why, kCalibrate};
    return CheckUnmendable(name, CheckState::kFail, found, why,
                           "what the check 'worker' says has to be mended first");
  }
  const v1::CounterReport& report = last.found->counters();
  const std::string when = "of " + TimeText(last.found->calibrate_time());
  if (report.usable() && unusable_now && !unusable_now->empty()) {
    return {
        name, CheckState::kWarn,
        fmt::format("{}: counters could be used; now {}", when, *unusable_now),
        "runs go by a calibration that holds no more; once the cause is mended, calibrate again",
        kCalibrate};
  }
  if (report.usable()) return CheckOk(name, when + ": counters can be used");
  const std::string found = fmt::format("{}: {}", when, report.reason());
  if (IsFoundByCounting(report.reason())) {
    return {name, CheckState::kFail, found,
            "nothing of hardware is counted until a calibration succeeds: calibrate again",
            kCalibrate};
  }
  if (countable_now) {
    return {name, CheckState::kWarn, found + "; what stopped it is gone",
            "`counters` and `--counters papi` go by what was found then: calibrate again",
            kCalibrate};
  }
  return CheckSkipped(name, found + "; nothing can be calibrated now either");
}

DiagnosticCheck CheckStore(const Status& checked) {
  const std::string name = "store";
  if (checked.has_value()) return CheckOk(name, "it can be read and written");
  const Error& error = checked.error();
  const auto file = error.metadata.find("file");
  const std::string path = file == error.metadata.end() ? "" : file->second;
  const std::string found = fmt::format("{}: {}", error.reason, error.message);
  const std::string why = "runs fail, and neither results nor rooflines are kept";
  if (error.reason == "STORE_CORRUPT" && !path.empty()) {
    return {name, CheckState::kFail, found,
            why + "; after the command start tinyprofd anew, which makes a new store",
            fmt::format("mv {0} {0}.damaged", path)};
  }
  return CheckUnmendable(name, CheckState::kFail, found, why,
                         "its disk needs free space and must be writable, or tinyprofd another "
                         "--state-dir");
}

}  // namespace tinyprof
