// What the command line takes and refuses, with no daemon about; completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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

TEST(Usage, HelpOffersNothingThatDoesNotWork) {
  for (const Command& command : Commands()) {
    const std::string help = RunCaught({std::string(command.name), "--help"}).out;
    EXPECT_THAT(help, testing::Not(HasSubstr("executed"))) << help;
    EXPECT_THAT(help, testing::Not(HasSubstr("lab1:"))) << help;
  }
}

TEST(Usage, EverySubcommandHasExamplesAndArguments) {
  for (const auto& [name, argument] :
       {std::pair("export", "FILE"), std::pair("upload", "FILE"), std::pair("delete", "NAME")}) {
    const Caught caught = RunCaught({"models", name, "--help"});
    EXPECT_EQ(caught.exit_code, 0);
    EXPECT_THAT(caught.out,
                HasSubstr(std::string("Examples:\n  tinyprof-client models ") + name + " "));
    EXPECT_THAT(caught.out, HasSubstr(argument));
  }
}

TEST(Usage, HelpSaysWhatTheArgumentsAre) {
  const std::string layer = RunCaught({"layer", "--help"}).out;
  EXPECT_THAT(layer, HasSubstr("One layer, such as 'linear(768,3072)'"));
  EXPECT_THAT(layer, testing::Not(HasSubstr("A zoo name")));
  EXPECT_THAT(RunCaught({"profile", "--help"}).out, HasSubstr("A zoo name"));
  for (const char* command :
       {"profile", "layer", "latency", "memory", "analyze", "show", "watch"}) {
    EXPECT_THAT(RunCaught({command, "--help"}).out,
                HasSubstr("Print CSV: a line for each layer, then one for the whole model"))
        << command;
  }
  EXPECT_THAT(RunCaught({"profile", "--help"}).out, HasSubstr("half of a --timeout below 20s"));
  EXPECT_THAT(RunCaught({"memory", "--help"}).out, HasSubstr("half of a --timeout below 2s"));
}

TEST(Usage, ACompletionScriptIsNoJson) {
  const Caught caught = RunCaught({"completion", "bash", "--json"});
  EXPECT_EQ(caught.exit_code, 2);
  EXPECT_THAT(caught.err, HasSubstr("completion prints a script for a shell and has no --json"));
  EXPECT_EQ(nlohmann::json::parse(caught.out)["error"]["reason"], "NO_JSON");
}

TEST(Usage, ALongValueIsNotRepeatedWhole) {
  const Caught caught = RunCaught({"profile", "mlp", "--batch", std::string(100'000, '9')});
  EXPECT_EQ(caught.exit_code, 2);
  EXPECT_THAT(caught.err, HasSubstr("…"));
  EXPECT_LT(caught.err.size(), 3'000U);
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
      {{"profile", ""}, "argument 2 is empty"},
      {{"counters", "--timeout", ""}, "argument 3 is empty"},
      {{"counters", "-o", ""}, "argument 3 is empty"},
      {{"profile", "\xff\xfe"}, "argument 2 is not valid UTF-8: "},
      {{"layer", "relu", "--input", "\xff=1x784"}, "argument 4 is not valid UTF-8: "},
      {{"roofline", "--measure=2"}, "measure was given"},
      {{"counters", "--calibrate=1"}, "calibrate was given"},
      {{"profile", "mlp", "--backend", "egen"}, "--backend"},
      {{"profile", "mlp", "--batch", "0"}, "--batch"},
      {{"profile", "mlp", "--batch", "x"}, "--batch"},
      {{"profile", "mlp", "--batch", "-1"}, "--batch: '-1' is no whole number from 1 to 65536"},
      {{"profile", "mlp", "--batch", "010"}, "--batch: '010' is no whole number"},
      {{"profile", "mlp", "--batch", "0x10"}, "--batch: '0x10' is no whole number"},
      {{"profile", "mlp", "--batch", "65537"}, "--batch: '65537' is no whole number"},
      {{"profile", "mlp", "--batch", "1.0"}, "--batch: '1.0' is no whole number"},
      {{"profile", "mlp", "--seed", "-1"}, "--seed: '-1' is no whole number"},
      {{"profile", "mlp", "--seed", "0"}, "--seed: '0' is no whole number"},
      {{"profile", "mlp", "--seed", "18446744073709551616"}, "--seed: '18446744073709551616'"},
      {{"profile", "mlp", "--threads", "01"}, "--threads: '01' is no whole number"},
      {{"profile", "mlp", "--top", "0"}, "--top: '0' is no whole number"},
      {{"list", "--limit", "+1"}, "--limit: '+1' is no whole number"},
      {{"verify", "mlp", "--data", "/", "--rtol", "-1"},
       "--rtol: '-1' is no number from 0 to 1e+300"},
      {{"verify", "mlp", "--data", "/", "--atol", "nan"}, "--atol: 'nan' is no number"},
      {{"verify", "mlp", "--data", "/", "--atol", "1e-3x"}, "--atol: '1e-3x' is no number"},
      {{"profile", "mlp", "--threads", "-1"}, "--threads"},
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

TEST(Usage, MistakesAreDocumentsForJson) {
  const struct {
    std::vector<std::string> args;
    const char* command;
    const char* sentence;
  } kCases[] = {
      {{"analyze", "--json"}, "analyze", "MODEL is required"},
      {{"--json", "analyze"}, "analyze", "MODEL is required"},
      {{"analyze", "mlp", "--batch", "0", "--json"}, "analyze", "--batch"},
      {{"analyze", "mlp", "--json", "--batch"}, "analyze", "--batch"},
      {{"models", "export", "mlp", "--json"}, "models export", "FILE is required"},
      {{"profile", "mlp", "--json", "--csv"}, "profile", "--json and --csv exclude each other"},
      {{"profile", "mlp", "--thread", "2", "--json"}, "profile", "did you mean --threads?"},
      {{"analyse", "--json"}, "", "did you mean analyze?"},
      {{"--json"}, "", "a command is required"},
  };
  for (const auto& item : kCases) {
    const Caught caught = RunCaught(item.args);
    EXPECT_EQ(caught.exit_code, 2) << caught.err;
    EXPECT_THAT(caught.err, HasSubstr(item.sentence));
    const auto document = nlohmann::json::parse(caught.out, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(document.is_object()) << item.sentence << ": " << caught.out;
    EXPECT_EQ(document["command"], item.command);
    EXPECT_EQ(document["error"]["code"], "INVALID_ARGUMENT");
    EXPECT_EQ(document["error"]["reason"], "BAD_COMMAND_LINE");
    EXPECT_THAT(document["error"]["message"].get<std::string>(), HasSubstr(item.sentence));
  }
  EXPECT_EQ(RunCaught({"analyze", "--", "--json", "--batch"}).out, "");
}

TEST(Usage, NumbersAreTakenToTheirBounds) {
  for (const char* seed : {"1", "18446744073709551615"}) {
    EXPECT_EQ(RunCaught({"analyze", "mlp", "--seed", seed, "--address", "unix:/no.sock"}).exit_code,
              3)
        << seed;
  }
  EXPECT_EQ(
      RunCaught({"analyze", "mlp", "--batch", "65536", "--address", "unix:/no.sock"}).exit_code, 3);
}

TEST(Usage, BadValuesAreRefusedBeforeAnyCall) {
  const struct {
    std::vector<std::string> args;
    const char* sentence;
  } kCases[] = {
      {{"profile", "mlp", "--counters", "executed"}, "--counters"},
      {{"profile", "./nothere"}, "'./nothere' is no model: there is no such file"},
      {{"analyze", "/etc/passwd"}, "names end in .onnx are taken as models"},
      {{"models", "upload", "./nothere"}, "cannot read the model file ./nothere"},
      {{"host", "--address", "tcp://lab:99"}, "write unix:/path/to/socket or HOST:PORT"},
      {{"profile", "mlp", "--precision", "1"}, "is no percentage"},
      {{"profile", "mlp", "--precision", "0.001%"}, "below 0.01%"},
      {{"profile", "mlp", "--time-budget", "10"}, "is no duration"},
      {{"profile", "mlp", "--time-budget", "2h"}, "above 1h"},
      {{"profile", "mlp", "--timeout", "soon"}, "is no duration"},
      {{"profile", "mlp", "--input", "0x3"}, "is no shape"},
      {{"profile", "/no/such/model.onnx"}, "cannot read the model file"},
      {{"profile", "missing.onnx"}, "cannot read the model file missing.onnx: No such file"},
      {{"verify", "mlp", "--data", "/no/such/directory"}, "cannot read the directory"},
      {{"host", "--address", "nowhere"}, "is no address"},
  };
  for (const auto& item : kCases) {
    const Caught caught = RunCaught(item.args);
    EXPECT_EQ(caught.exit_code, 2) << caught.err;
    EXPECT_THAT(caught.err, HasSubstr(item.sentence));
  }
  const Caught unwritable = RunCaught({"profile", "mlp", "-o", "/no/such/directory/x"});
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("cannot write"));
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
  EXPECT_TRUE(completes("counters --cal", "--calibrate"));
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
