#include "daemon/worker/worker_exit.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "kernels/base/words.h"

namespace tinyprof {
namespace {

std::string SignalName(int signal_number) {
  const char* name = ::sigabbrev_np(signal_number);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal_number);
}

// The last line that says something.
std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  const size_t newline = text.find_last_of('\n', end);
  const size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, end + 1 - begin);
}

bool MemoryWasShort(const WorkerExit& exit) {
  const int64_t machine_bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  const int64_t limit = exit.memory_limit_bytes > 0
                            ? std::min(exit.memory_limit_bytes, machine_bytes)
                            : machine_bytes;
  return exit.max_resident_bytes >= limit / 2;
}

Error ExplainKill(const WorkerExit& exit, const std::string& where) {
  if (MemoryWasShort(exit)) {
    return {ErrorCode::kResourceExhausted, "OUT_OF_MEMORY",
            fmt::format("the worker was killed{} while it held {}, most likely by the kernel for "
                        "want of memory: use a smaller model or batch",
                        where, SizeText(exit.max_resident_bytes))};
  }
  return {ErrorCode::kResourceExhausted, "WORKER_KILLED",
          fmt::format("the worker was killed with SIGKILL{} by something outside tinyprofd: look "
                      "for the out-of-memory killer or an operator, then run again",
                      where)};
}

Error Describe(const WorkerExit& exit) {
  const std::string where = exit.layer.empty() ? "" : fmt::format(" in layer {}", exit.layer);
  const std::string last_line = LastLine(exit.stderr_tail);
  const std::string said = last_line.empty() ? "" : fmt::format(" (it wrote: {})", last_line);
  if (WIFSIGNALED(exit.wait_status)) {
    const int signal_number = WTERMSIG(exit.wait_status);
    if (signal_number == SIGKILL) return ExplainKill(exit, where);
    if (signal_number == SIGTERM || signal_number == SIGINT) {
      return {ErrorCode::kResourceExhausted, "WORKER_KILLED",
              fmt::format("the worker was ended with {}{} by something outside tinyprofd: look for "
                          "an operator or a service manager, then run again",
                          SignalName(signal_number), where)};
    }
    if (signal_number == SIGSYS) {
      return {ErrorCode::kFailedPrecondition,
              "SECCOMP",
              fmt::format("the worker was ended with SIGSYS{}: a seccomp filter from outside "
                          "tinyprofd (of a container or a service) forbids one of its calls",
                          where),
              {{"signal", SignalName(signal_number)}}};
    }
    Error error{
        ErrorCode::kInternal, "WORKER_CRASHED",
        fmt::format("the worker crashed with {}{}{}: report it{}", SignalName(signal_number), where,
                    said, exit.layer.empty() ? "" : " together with the model")};
    error.metadata["signal"] = SignalName(signal_number);
    return error;
  }
  const int code = WEXITSTATUS(exit.wait_status);
  if (code != 0) {
    Error error{ErrorCode::kInternal, "WORKER_CRASHED",
                fmt::format("the worker ended with exit code {}{}{}", code, where, said)};
    error.metadata["exit_code"] = std::to_string(code);
    return error;
  }
  return {ErrorCode::kInternal, "WORKER_PROTOCOL",
          fmt::format("the worker ended without a result{}{}", where, said)};
}

}  // namespace

Error ExplainExit(const WorkerExit& exit) {
  Error error = Describe(exit);
  if (!exit.layer.empty()) error.metadata["layer"] = exit.layer;
  if (!exit.stderr_tail.empty()) error.metadata["stderr"] = exit.stderr_tail;
  return error;
}

}  // namespace tinyprof
