#include "daemon/ops/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace tinyprof {
namespace {

// What `action` returns in a process of its own; -1 when that died.
int InProcess(const std::function<int()>& action) {
  const pid_t child = fork();
  if (child == 0) _exit(action());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StandardStreams, EverySetOfClosedOnesIsOpenedAndNoFileGetsTheirNumbers) {
  for (int closed = 0; closed < 8; ++closed) {
    EXPECT_EQ(InProcess([closed] {
                for (const int fd : {0, 1, 2}) {
                  if ((closed >> fd & 1) != 0) close(fd);
                }
                OpenStandardStreams();
                return open("/dev/zero", O_RDONLY) > 2 ? 0 : 1;
              }),
              0)
        << closed;
  }
}

TEST(StandardStreams, AnOutputThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(InProcess([] {
              close(STDOUT_FILENO);
              OpenStandardStreams();
              return WriteToStdout("x").has_value() ? 1 : 0;
            }),
            0);
  EXPECT_EQ(InProcess([] {
              dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
              return WriteToStdout("x").error().message.find("No space left") == std::string::npos
                         ? 1
                         : 0;
            }),
            0);
  EXPECT_EQ(InProcess([] {
              dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
              return WriteToStdout("x").has_value() ? 0 : 1;
            }),
            0);
}

TEST(StandardStreams, AnErrorOutputThatCannotBeWrittenEndsNothing) {
  for (const char* path : {"/dev/full", "/dev/null"}) {
    EXPECT_EQ(InProcess([path] {
                dup2(open(path, O_RDONLY), STDERR_FILENO);
                WriteToStderr("x");
                dup2(open(path, O_WRONLY), STDERR_FILENO);
                WriteToStderr("x");
                return 0;
              }),
              0)
        << path;
  }
}

}  // namespace
}  // namespace tinyprof
