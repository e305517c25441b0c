// The real program where its surroundings are not what it likes: closed streams, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <filesystem>

#include "tests/unit/client/fake_daemon.h"

namespace tinyprof::client {
namespace {

using testing::HasSubstr;

class Program : public testing::Test {
 protected:
  // Runs `script` with $CLIENT and $ADDRESS; standard error is kept.
  int Run(const std::string& script) {
    const std::string command = "exec 2>&1; CLIENT='" TINYPROF_CLIENT_PATH "'; ADDRESS='" +
                                daemon_.address() + "'; " + script;
    FILE* const pipe = popen(command.c_str(), "r");
    err_.clear();
    char buffer[4096];
    while (const size_t got = fread(buffer, 1, sizeof(buffer), pipe)) err_.append(buffer, got);
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  FakeDaemon daemon_;
  std::string err_;
};

TEST_F(Program, AClosedStandardOutputIsAnError) {
  for (const char* arguments : {"--help", "--version", "completion bash", "host --json",
                                "analyze tiny", "models export mlp -"}) {
    for (const char* closed : {">&-", "<&- >&-", ">/dev/full"}) {
      EXPECT_EQ(Run(std::string("\"$CLIENT\" ") + arguments + " --address \"$ADDRESS\" " + closed),
                1)
          << arguments << ' ' << closed;
      EXPECT_THAT(err_, HasSubstr("cannot write standard output: ")) << arguments << ' ' << closed;
    }
  }
}

TEST_F(Program, ClosedStreamsThatAreNotNeededDoNotMatter) {
  EXPECT_EQ(Run("\"$CLIENT\" host --address \"$ADDRESS\" <&- 2>&-"), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("Test CPU"));
  EXPECT_EQ(Run("\"$CLIENT\" analyze --address \"$ADDRESS\" 2>&-"), 2);
}

TEST_F(Program, AReaderThatHasEnoughIsNoError) {
  EXPECT_EQ(Run("{ \"$CLIENT\" analyze tiny --address \"$ADDRESS\"; echo $? >&2; } | true"), 0);
  EXPECT_EQ(err_, "0\n");
}

TEST_F(Program, AFileSizeLimitIsAnErrorOfWriting) {
  const std::string file = (daemon_.directory() / "out.onnx").string();
  const std::string limited = "ulimit -f 0; exec \"$CLIENT\" --address \"$ADDRESS\" ";
  EXPECT_EQ(Run(limited + "analyze tiny -o " + file), 1) << err_;
  EXPECT_THAT(err_, HasSubstr("cannot write " + file + ": File too large"));
  EXPECT_EQ(Run(limited + "models export mlp " + file), 1) << err_;
  EXPECT_THAT(err_, HasSubstr("cannot write " + file + ": File too large"));
}

}  // namespace
}  // namespace tinyprof::client
