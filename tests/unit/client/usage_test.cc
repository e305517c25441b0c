// What the command line takes and refuses, with no daemon about; completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/commands/command.h"
#include "tests/unit/client/harness.h"

namespace tinyprof::client {
namespace {

using testing::HasSubstr;

TEST(Usage, HelpBeginsWithExamples) {
  for (const Command& command : Commands()) {
    const Caught caught = RunCaught({std::string(command.name), "--help"});
    EXPECT_EQ(caught.exit_code, 0) << command.name;
    const size_t examples =
        caught.out.find("Examples:\n  tinyprof-client " + std::string(command.name));
    ASSERT_NE(examples, std::string::npos) << caught.out;
    EXPECT_LT(examples, caught.out.find("Usage:")) << caught.out;
  }
  EXPECT_THAT(RunCaught({"--help"}).out, HasSubstr("Exit codes"));
  EXPECT_THAT(RunCaught({"--version"}).out, HasSubstr("tinyprof-client "));
}

TEST(Usage, MistakesAreNamedWithTheNearestWord) {
  const struct {
    std::vector<std::string> args;
    const char* sentence;
  } kCases[] = {
      {{"profil", "mlp"}, "'profil' is no command of tinyprof-client; did you mean profile?"},
      {{"profile", "mlp", "--thread", "2"},
       "'--thread' is no option of profile; did you mean --threads?"},
      {{"profile", "--thread=2"}, "'--thread' is no option of profile; did you mean --threads?"},
      {{"show", "a", "b"}, "'b' is no argument of show"},
      {{"profile"}, "MODEL is required"},
      {{"profile", "mlp", "--backend", "egen"}, "--backend"},
      {{"profile", "mlp", "--batch", "0"}, "--batch"},
      {{"profile", "mlp", "--batch", "x"}, "--batch"},
      {{"profile", "mlp", "--threads", "-1"}, "--threads"},
      {{"profile", "mlp", "--json", "--csv"}, "--json and --csv exclude each other"},
      {{"verify", "mlp"}, "--data is required"},
      {{"completion", "tcsh"}, "tcsh"},
  };
  for (const auto& item : kCases) {
    const Caught caught = RunCaught(item.args);
    EXPECT_EQ(caught.exit_code, 2) << caught.err;
    EXPECT_EQ(caught.out, "");
    EXPECT_THAT(caught.err, HasSubstr(item.sentence));
    EXPECT_THAT(caught.err, HasSubstr("--help"));
  }
  EXPECT_EQ(RunCaught({}).exit_code, 2);
}

TEST(Usage, BadValuesAreRefusedBeforeAnyCall) {
  const struct {
    std::vector<std::string> args;
    const char* sentence;
  } kCases[] = {
      {{"profile", "mlp", "--counters", "executed"},
       "this build does not count executed instructions"},
      {{"profile", "mlp", "--precision", "1"}, "is no percentage"},
      {{"profile", "mlp", "--precision", "0.001%"}, "below 0.01%"},
      {{"profile", "mlp", "--time-budget", "10"}, "is no duration"},
      {{"profile", "mlp", "--time-budget", "2h"}, "above 1h"},
      {{"profile", "mlp", "--timeout", "soon"}, "is no duration"},
      {{"profile", "mlp", "--input", "0x3"}, "is no shape"},
      {{"profile", "mlp", "-o", "/no/such/directory/x"}, "cannot write"},
      {{"profile", "/no/such/model.onnx"}, "cannot read the model file"},
      {{"verify", "mlp", "--data", "/no/such/directory"}, "cannot read the directory"},
      {{"host", "--address", "nowhere"}, "is no address"},
  };
  for (const auto& item : kCases) {
    const Caught caught = RunCaught(item.args);
    EXPECT_EQ(caught.exit_code, 2) << caught.err;
    EXPECT_THAT(caught.err, HasSubstr(item.sentence));
  }
}

TEST(Usage, AModelMayBeCalledLikeACommand) {
  const Caught caught = RunCaught({"analyze", "list", "--address", "unix:/no/such.sock"});
  EXPECT_EQ(caught.exit_code, 3) << caught.err;
}

// Whether `shell` takes the script; nullopt when the shell is not installed.
std::optional<bool> ShellTakes(const std::string& shell, const std::string& check) {
  const std::string script = RunCaught({"completion", shell}).out;
  const auto path = std::filesystem::temp_directory_path() / ("tinyprof-completion." + shell);
  std::ofstream(path) << script;
  if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) return std::nullopt;
  return std::system((check + " " + path.string()).c_str()) == 0;
}

TEST(Completion, BashTakesTheScriptAndCompletes) {
  const auto taken = ShellTakes("bash", "bash -n");
  if (!taken) GTEST_SKIP() << "bash is not installed";
  EXPECT_TRUE(*taken);
  const auto path = std::filesystem::temp_directory_path() / "tinyprof-completion.bash";
  const auto completes = [&path](const std::string& words, const std::string& wanted) {
    const std::string script = "source " + path.string() + "; COMP_WORDS=(tinyprof-client " +
                               words +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; "
                               "_tinyprof_client; [[ \"${COMPREPLY[*]}\" == " +
                               wanted + " ]]\n";
    const auto runner = std::filesystem::temp_directory_path() / "tinyprof-completion-run.bash";
    std::ofstream(runner) << script;
    return std::system(("bash " + runner.string()).c_str()) == 0;
  };
  EXPECT_TRUE(completes("prof", "profile"));
  EXPECT_TRUE(completes("profile mlp --thr", "--threads"));
  EXPECT_TRUE(completes("profile mlp --cache co", "cold"));
  EXPECT_TRUE(completes("models ex", "export"));
  EXPECT_TRUE(completes("roofline --mea", "--measure"));
}

TEST(Completion, ZshTakesTheScript) {
  const auto taken = ShellTakes("zsh", "zsh -n");
  if (!taken) GTEST_SKIP() << "zsh is not installed";
  EXPECT_TRUE(*taken);
}

TEST(Completion, FishTakesTheScript) {
  const auto taken = ShellTakes("fish", "fish --no-execute");
  if (!taken) GTEST_SKIP() << "fish is not installed";
  EXPECT_TRUE(*taken);
}

TEST(Completion, KnowsEveryCommand) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = RunCaught({"completion", shell}).out;
    for (const Command& command : Commands()) {
      EXPECT_THAT(script, HasSubstr(std::string(command.name))) << shell;
    }
    EXPECT_THAT(script, HasSubstr("reference eigen")) << shell;
  }
}

}  // namespace
}  // namespace tinyprof::client
