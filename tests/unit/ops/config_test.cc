#include "daemon/ops/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <regex>
#include <sstream>

#include "tests/unit/ops/temp_dir.h"

namespace tinyprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A user with a home and whatever else `variables` has.
Environment User(std::map<std::string, std::string> variables = {}, uid_t uid = 1000) {
  variables.emplace("HOME", "/home/someone");
  return {uid, [variables](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          }};
}

const ConfigValue& ValueOf(const LoadedConfig& loaded, std::string_view name) {
  for (const ConfigValue& value : loaded.values) {
    if (value.key->name == name) return value;
  }
  throw std::runtime_error("no such key");
}

TEST(Config, DefaultsOfAUserLieInTheirDirectories) {
  const LoadedConfig loaded =
      LoadConfig({}, User({{"XDG_RUNTIME_DIR", "/run/user/1000"}, {"XDG_STATE_HOME", "/s"}}));
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.config.listen, ElementsAre("unix:/run/user/1000/tinyprof/tinyprofd.sock"));
  EXPECT_EQ(loaded.config.state_dir, "/s/tinyprof");
  EXPECT_EQ(loaded.config.socket_mode, 0660u);
  EXPECT_EQ(loaded.config.drain_timeout, std::chrono::seconds(30));
  EXPECT_THAT(loaded.config.cpus, IsEmpty());
  EXPECT_GT(loaded.config.memory_limit_bytes, 0);
}

TEST(Config, WithoutARuntimeDirectoryTheSocketLiesBesideTheState) {
  const LoadedConfig loaded = LoadConfig({}, User());
  EXPECT_EQ(loaded.config.state_dir, "/home/someone/.local/state/tinyprof");
  EXPECT_THAT(loaded.config.listen,
              ElementsAre("unix:/home/someone/.local/state/tinyprof/tinyprofd.sock"));
}

TEST(Config, RootHasTheSystemsDirectories) {
  const TempDir dir;
  const std::string file = dir.Write("a.toml", "");
  const LoadedConfig loaded = LoadConfig({.file = file}, User({{"XDG_STATE_HOME", "/s"}}, 0));
  EXPECT_EQ(loaded.config.state_dir, "/var/lib/tinyprof");
  EXPECT_THAT(loaded.config.listen, ElementsAre("unix:/run/tinyprof/tinyprofd.sock"));
}

TEST(Config, WithoutAHomeItAsksForAStateDirectory) {
  const Environment nobody{
      1000, [](const std::string&) -> std::optional<std::string> { return std::nullopt; }};
  const LoadedConfig loaded = LoadConfig({}, nobody);
  EXPECT_THAT(loaded.errors, testing::Contains(HasSubstr("pass --state-dir")));
}

TEST(Config, FlagGoesBeforeEnvironmentBeforeFileBeforeDefault) {
  const TempDir dir;
  const std::string file =
      dir.Write("a.toml", "queue_limit = 3\nlog_level = \"warn\"\ncpus = \"4\"\n");
  const ConfigFlags flags{.file = file, .texts = {{"cpus", {"1-2"}}}};
  const LoadedConfig loaded =
      LoadConfig(flags, User({{"TINYPROF_CPUS", "7"}, {"TINYPROF_LOG_LEVEL", "error"}}));
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.config.cpus, ElementsAre(1, 2));
  EXPECT_EQ(loaded.config.log_level, LogLevel::kError);
  EXPECT_EQ(loaded.config.queue_limit, 3);
  EXPECT_EQ(loaded.config.max_runs, 10000);
  EXPECT_EQ(ValueOf(loaded, "cpus").origin, "flag --cpus");
  EXPECT_EQ(ValueOf(loaded, "log_level").origin, "environment TINYPROF_LOG_LEVEL");
  EXPECT_EQ(ValueOf(loaded, "queue_limit").origin, file + ":1:1");
  EXPECT_EQ(ValueOf(loaded, "max_runs").origin, "default");
}

TEST(Config, EnvironmentListsAreSplitAtCommas) {
  const LoadedConfig loaded = LoadConfig({}, User({{"TINYPROF_LISTEN", "unix:/a,localhost:1"}}));
  EXPECT_THAT(loaded.config.listen, ElementsAre("unix:/a", "localhost:1"));
}

TEST(Config, AllErrorsAreReportedAtOnceWithTheirPlaces) {
  const TempDir dir;
  const std::string file = dir.Write("bad.toml",
                                     "lisen = [\"unix:/a\"]\n"
                                     "queue_limit = \"many\"\n"
                                     "  socket_mode = \"0999\"\n"
                                     "listen = [1]\n"
                                     "max_runs = 0\n");
  const LoadedConfig loaded = LoadConfig({.file = file}, User({{"TINYPROF_CPUS", "x"}}));
  EXPECT_THAT(
      loaded.errors,
      testing::UnorderedElementsAre(
          HasSubstr(file + ":1:1: unknown key 'lisen'"),
          HasSubstr(file + ":2:1: queue_limit must be an integer"),
          HasSubstr(file + ":3:3: socket_mode: got '0999'"),
          HasSubstr(file + ":4:1: listen must be an array of strings"),
          HasSubstr(file + ":5:1: max_runs: got '0', wanted a whole number from 1 to 10000000"),
          HasSubstr("environment TINYPROF_CPUS: cpus: \"x\" is no list of CPUs")));
}

TEST(Config, SyntaxErrorsHaveAPlace) {
  const TempDir dir;
  const std::string file = dir.Write("bad.toml", "queue_limit = 3\nmax_runs = = 4\n");
  const LoadedConfig loaded = LoadConfig({.file = file}, User());
  ASSERT_EQ(loaded.errors.size(), 1u);
  EXPECT_THAT(loaded.errors[0], HasSubstr(file + ":2:"));
}

TEST(Config, ANamedFileMustExistButTheDefaultNeedNot) {
  const LoadedConfig named = LoadConfig({.file = "/nowhere/a.toml"}, User());
  EXPECT_THAT(named.errors, ElementsAre(HasSubstr("/nowhere/a.toml: No such file")));
  const TempDir dir;
  const LoadedConfig unnamed = LoadConfig({}, User({{"XDG_CONFIG_HOME", dir.File("none")}}));
  EXPECT_THAT(unnamed.errors, IsEmpty());
}

TEST(Config, AFileThatIsADirectoryIsSaidToBeOne) {
  const TempDir dir;
  const LoadedConfig loaded = LoadConfig({.file = dir.File(".")}, User());
  EXPECT_THAT(loaded.errors, ElementsAre(HasSubstr(dir.File(".") + " is a directory")));
}

TEST(Config, PrintsWhatAutoComesTo) {
  LoadedConfig loaded = LoadConfig({}, User());
  loaded.config.memory_limit_bytes = int64_t{3} << 30;
  loaded.config.cpus = {2, 3, 7};
  const std::string text = PrintConfig(loaded);
  EXPECT_THAT(text, HasSubstr("cpus = \"auto\"  # default, here 2,3,7\n"));
  EXPECT_THAT(text, HasSubstr("memory_limit = \"auto\"  # default, here 3 GiB\n"));
}

TEST(Config, FilesThatNeverEndAreRefused) {
  const TempDir dir;
  ASSERT_EQ(mkfifo(dir.File("fifo").c_str(), 0600), 0);
  for (const std::string& path : {dir.File("fifo"), std::string("/dev/zero")}) {
    const LoadedConfig loaded = LoadConfig({.file = path, .texts = {}}, User());
    EXPECT_THAT(loaded.errors, ElementsAre(HasSubstr(path + " is not a regular file")));
  }
}

TEST(Config, FilesOfMoreThanAMebibyteAreRefused) {
  const TempDir dir;
  const std::string most(size_t{1} << 20, '#');
  EXPECT_THAT(LoadConfig({.file = dir.Write("most.toml", most), .texts = {}}, User()).errors,
              IsEmpty());
  EXPECT_THAT(LoadConfig({.file = dir.Write("more.toml", most + '#'), .texts = {}}, User()).errors,
              ElementsAre(HasSubstr(dir.File("more.toml") + " is larger than 1 MiB")));
}

TEST(Config, ListenWantsFullAddresses) {
  for (const char* address : {"", "unix:relative", "unix:", "localhost", "localhost:"}) {
    const LoadedConfig loaded = LoadConfig({.texts = {{"listen", {address}}}}, User());
    EXPECT_THAT(loaded.errors,
                ElementsAre(HasSubstr("wanted unix:/absolute/path or localhost:PORT")))
        << address;
  }
}

TEST(Config, SizesMayBeIntegers) {
  const TempDir dir;
  const std::string file = dir.Write("a.toml", "memory_limit = 1048576\nupload_limit = \"2MiB\"\n");
  const LoadedConfig loaded = LoadConfig({.file = file}, User());
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_EQ(loaded.config.memory_limit_bytes, 1048576);
  EXPECT_EQ(loaded.config.upload_limit_bytes, 2097152);
}

// Read back, the printed file gives the same values, so it is valid TOML and complete.
TEST(Config, PrintedConfigReadsBack) {
  const ConfigFlags flags{.texts = {{"listen", {"unix:/a \"b\"\\c", "[::1]:99"}},
                                    {"state_dir", {"/tmp/x\ty"}},
                                    {"cpus", {"1-3"}}}};
  const LoadedConfig first = LoadConfig(flags, User());
  ASSERT_THAT(first.errors, IsEmpty());
  const TempDir dir;
  const std::string file = dir.Write("printed.toml", PrintConfig(first));
  const LoadedConfig second = LoadConfig({.file = file}, User({}, 0));
  ASSERT_THAT(second.errors, IsEmpty());
  for (const ConfigValue& value : first.values) {
    EXPECT_EQ(ValueOf(second, value.key->name).texts, value.texts) << value.key->name;
    EXPECT_THAT(ValueOf(second, value.key->name).origin, HasSubstr(file));
  }
}

TEST(Config, TheSampleFileHasEveryKeyWithItsDefault) {
  std::ifstream stream(TINYPROF_SOURCE_DIR "/deploy/tinyprofd.toml");
  std::stringstream sample;
  sample << stream.rdbuf();
  const std::regex commented_key("(^|\n)# ([a-z_]+ = )");
  const TempDir dir;
  const std::string file =
      dir.Write("sample.toml", std::regex_replace(sample.str(), commented_key, "$1$2"));
  const LoadedConfig from_file = LoadConfig({.file = file}, User());
  const LoadedConfig defaults = LoadConfig({}, User());
  ASSERT_THAT(from_file.errors, IsEmpty());
  for (const ConfigKey& key : ConfigKeys()) {
    EXPECT_THAT(ValueOf(from_file, key.name).origin, HasSubstr(file)) << key.name;
    EXPECT_EQ(ValueOf(from_file, key.name).texts, ValueOf(defaults, key.name).texts) << key.name;
  }
}

}  // namespace
}  // namespace tinyprof
