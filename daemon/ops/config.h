// The daemon's configuration: one table of keys, merged from four places.
//
// A key's value comes from its flag, else from the environment (TINYPROF_<KEY>), else from the
// file, else from its default. The table drives parsing, printing, the flags and the test of the
// sample file, so adding a key is adding a line of it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/ops/log.h"
#include "kernels/base/error.h"

namespace tinyprof {

struct Config {
  std::vector<std::string> listen;  // "unix:/path" or "host:port"
  std::string state_dir;
  std::string lock_file;
  std::vector<int> cpus;  // that measure; empty: chosen from the machine
  uint32_t socket_mode = 0;
  int64_t queue_limit = 0;  // runs that may wait
  int64_t max_runs = 0;     // runs that are kept
  int64_t memory_limit_bytes = 0;
  std::chrono::nanoseconds max_run_time{};
  std::chrono::nanoseconds drain_timeout{};
  int64_t upload_limit_bytes = 0;
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
};

// Who runs the daemon, where; tests bring their own.
struct Environment {
  uid_t uid = 0;
  std::function<std::optional<std::string>(const std::string& name)> variable;
};
Environment ProcessEnvironment();

// A value as it was written: one text, or several for a list.
using ConfigTexts = std::vector<std::string>;

struct ConfigKey {
  enum class Kind { kText, kInteger, kSize, kList };  // kSize: a text or an integer of bytes

  std::string_view name;
  Kind kind;
  std::string_view default_text;  // "auto": see `resolve_auto` and `help`
  std::string_view unit;          // empty where there is none
  std::string_view help;
  bool has_flag;  // --name with dashes for underscores
  // What "auto" means for this user; null when `apply` knows.
  Result<std::string> (*resolve_auto)(const Environment& environment);
  Status (*apply)(const ConfigTexts& texts, Config& config);
};

std::span<const ConfigKey> ConfigKeys();

struct ConfigValue {
  const ConfigKey* key = nullptr;
  ConfigTexts texts;
  std::string origin;  // "flag --cpus", "environment TINYPROF_CPUS", "/etc/x.toml:3:1", "default"
};

struct LoadedConfig {
  Config config;                    // complete when there are no errors
  std::vector<ConfigValue> values;  // one for each key, in the table's order
  std::vector<std::string> errors;  // everything that is wrong, one sentence each
};

// What flags give: the file (empty: the default file, if it exists) and texts by key.
struct ConfigFlags {
  std::string file;
  std::map<std::string, ConfigTexts, std::less<>> texts;
};

LoadedConfig LoadConfig(const ConfigFlags& flags, const Environment& environment);

// The merged values as a TOML file that says where each came from, and what "auto" comes to for the
// memory and, once they were chosen, for the CPUs.
std::string PrintConfig(const LoadedConfig& loaded);

}  // namespace tinyprof
