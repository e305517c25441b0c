// The table of keys and what the text of each means.
#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "daemon/ops/config.h"
#include "daemon/ops/values.h"
#include "kernels/base/cpu_list.h"

namespace tinyprof {
namespace {

constexpr std::string_view kAuto = "auto";

// The memory this process can have: the machine's, or its control group's where that is less.
int64_t UsableMemoryBytes() {
  struct sysinfo info {};
  sysinfo(&info);
  int64_t bytes = static_cast<int64_t>(info.totalram) * info.mem_unit;
  std::ifstream limit_file("/sys/fs/cgroup/memory.max");
  if (int64_t limit = 0; limit_file >> limit) bytes = std::min(bytes, limit);
  return bytes;
}

// Moves a parsed value to its place.
template <class T, class Target>
Status Store(Result<T> parsed, Target& target) {
  TINYPROF_RETURN_IF_ERROR(parsed);
  target = *std::move(parsed);
  return {};
}

Result<std::string> ResolveStateDir(const Environment& environment) {
  if (environment.uid == 0) return "/var/lib/tinyprof";
  if (const auto state_home = environment.variable("XDG_STATE_HOME");
      state_home && !state_home->empty()) {
    return *state_home + "/tinyprof";
  }
  if (const auto home = environment.variable("HOME")) return *home + "/.local/state/tinyprof";
  return Fail(ErrorCode::kInvalidArgument, "NO_HOME",
              "neither XDG_STATE_HOME nor HOME is set; pass --state-dir");
}

// Without a runtime directory the socket lies beside the state, which only its owner can enter.
Result<std::string> ResolveListen(const Environment& environment) {
  if (environment.uid == 0) return "unix:/run/tinyprof/tinyprofd.sock";
  if (const auto runtime_dir = environment.variable("XDG_RUNTIME_DIR");
      runtime_dir && !runtime_dir->empty()) {
    return fmt::format("unix:{}/tinyprof/tinyprofd.sock", *runtime_dir);
  }
  TINYPROF_ASSIGN_OR_RETURN(const std::string state_dir, ResolveStateDir(environment));
  return fmt::format("unix:{}/tinyprofd.sock", state_dir);
}

// One place for all users: two daemons on one machine disturb each other whoever runs them.
Result<std::string> ResolveLockFile(const Environment&) {
  return access("/run/lock", W_OK) == 0 ? "/run/lock/tinyprofd.lock" : "/tmp/tinyprofd.lock";
}

Status ApplyListen(const ConfigTexts& texts, Config& config) {
  for (const std::string& address : texts) {
    const bool is_unix = address.starts_with("unix:");
    if (address.find(':') == address.npos || address.ends_with(':') ||
        (is_unix && address[5] != '/')) {
      return Fail(ErrorCode::kInvalidArgument, "BAD_VALUE",
                  fmt::format("got '{}', wanted unix:/absolute/path or localhost:PORT", address));
    }
  }
  if (texts.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_VALUE", "got no address, wanted at least one");
  }
  config.listen = texts;
  return {};
}

Status ApplyPath(const std::string& path, std::string& target) {
  if (!path.starts_with('/')) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_VALUE",
                fmt::format("got '{}', wanted an absolute path", path));
  }
  target = path;
  return {};
}

Status ApplyCpus(const ConfigTexts& texts, Config& config) {
  config.cpus.clear();
  return texts[0] == kAuto ? Status{} : Store(ParseCpuList(texts[0]), config.cpus);
}

Status ApplyMemoryLimit(const ConfigTexts& texts, Config& config) {
  if (texts[0] != kAuto) return Store(ParseByteCount(texts[0]), config.memory_limit_bytes);
  config.memory_limit_bytes = UsableMemoryBytes() / 5 * 4;
  return {};
}

Status ApplyMaxRunTime(const ConfigTexts& texts, Config& config) {
  TINYPROF_ASSIGN_OR_RETURN(config.max_run_time, ParseDuration(texts[0]));
  if (config.max_run_time >= std::chrono::seconds(1)) return {};
  return Fail(ErrorCode::kInvalidArgument, "BAD_VALUE",
              fmt::format("got '{}', wanted at least 1s", texts[0]));
}

using Kind = ConfigKey::Kind;

constexpr std::array kKeys = {
    ConfigKey{"listen", Kind::kList, kAuto, "",
              "Addresses to serve at: unix:/path, or host:port on a loopback address (localhost: "
              "127.0.0.1 and [::1]). auto: "
              "/run/tinyprof for root, else $XDG_RUNTIME_DIR/tinyprof, else the state directory.",
              true, ResolveListen, ApplyListen},
    ConfigKey{"state_dir", Kind::kText, kAuto, "",
              "Directory of runs, rooflines and uploaded models. auto: /var/lib/tinyprof for root, "
              "else $XDG_STATE_HOME/tinyprof, else ~/.local/state/tinyprof.",
              true, ResolveStateDir,
              [](const ConfigTexts& t, Config& c) { return ApplyPath(t[0], c.state_dir); }},
    ConfigKey{"lock_file", Kind::kText, kAuto, "",
              "File whose lock says that a daemon measures on this host. auto: "
              "/run/lock/tinyprofd.lock, or /tmp/tinyprofd.lock where that cannot be written.",
              false, ResolveLockFile,
              [](const ConfigTexts& t, Config& c) { return ApplyPath(t[0], c.lock_file); }},
    ConfigKey{"cpus", Kind::kText, kAuto, "",
              "CPUs that measure, such as 1-3 or 0,2. auto: one per physical core, the first core "
              "left to the daemon where there are several.",
              true, nullptr, ApplyCpus},
    ConfigKey{
        "socket_mode", Kind::kText, "0660", "octal",
        "Permissions of the unix socket: 0660 for its owner and their group, 0666 for everybody "
        "who "
        "may enter its directory.",
        true, nullptr,
        [](const ConfigTexts& t, Config& c) { return Store(ParseFileMode(t[0]), c.socket_mode); }},
    ConfigKey{"queue_limit", Kind::kInteger, "64", "runs",
              "Runs that may wait; one more is refused.", false, nullptr,
              [](const ConfigTexts& t, Config& c) {
                return Store(ParseInteger(t[0], 1, 10'000), c.queue_limit);
              }},
    ConfigKey{"max_runs", Kind::kInteger, "10000", "runs",
              "Finished runs that are kept; older ones are forgotten.", false, nullptr,
              [](const ConfigTexts& t, Config& c) {
                return Store(ParseInteger(t[0], 1, 10'000'000), c.max_runs);
              }},
    ConfigKey{"memory_limit", Kind::kSize, kAuto, "bytes, or with KiB, MiB, GiB",
              "Most memory that a model's weights and activations may take. auto: 80 % of the "
              "machine's, or of the control group's.",
              false, nullptr, ApplyMemoryLimit},
    ConfigKey{"max_run_time", Kind::kText, "10m", "ms, s, m or h",
              "Longest time that a run may occupy the host.", false, nullptr, ApplyMaxRunTime},
    ConfigKey{"drain_timeout", Kind::kText, "30s", "ms, s, m or h",
              "How long the run in progress may go on after SIGTERM before it is cancelled.", false,
              nullptr,
              [](const ConfigTexts& t, Config& c) {
                return Store(ParseDuration(t[0]), c.drain_timeout);
              }},
    ConfigKey{"upload_limit", Kind::kSize, "4GiB", "bytes, or with KiB, MiB, GiB",
              "Largest model that may be uploaded.", false, nullptr,
              [](const ConfigTexts& t, Config& c) {
                return Store(ParseByteCount(t[0]), c.upload_limit_bytes);
              }},
    ConfigKey{"log_format", Kind::kText, "text", "", "Form of the log on stderr: text or json.",
              true, nullptr,
              [](const ConfigTexts& t, Config& c) {
                return Store(LogFormatFromName(t[0]), c.log_format);
              }},
    ConfigKey{
        "log_level", Kind::kText, "info", "",
        "Least severe lines that are logged: debug, info, warn or error. SIGHUP reads it "
        "anew.",
        true, nullptr,
        [](const ConfigTexts& t, Config& c) { return Store(LogLevelFromName(t[0]), c.log_level); }},
};

}  // namespace

std::span<const ConfigKey> ConfigKeys() { return kKeys; }

}  // namespace tinyprof
