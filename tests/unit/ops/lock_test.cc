#include "daemon/ops/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/unit/ops/temp_dir.h"

namespace tinyprof {
namespace {

using testing::HasSubstr;

TEST(HostLock, SecondHolderIsToldThePidOfTheFirst) {
  const TempDir dir;
  const std::string path = dir.File("lock");
  const auto first = FileLock::OfHost(path);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = FileLock::OfHost(path);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(second.error().metadata.at("pid"), std::to_string(getpid()));
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(getpid())));
}

TEST(HostLock, CanBeOpenedByOtherUsersWhateverTheUmask) {
  const TempDir dir;
  const mode_t umask_before = umask(0077);
  const auto lock = FileLock::OfHost(dir.File("lock"));
  umask(umask_before);
  ASSERT_TRUE(lock.has_value()) << lock.error().message;
  struct stat file {};
  ASSERT_EQ(stat(dir.File("lock").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0644u);
}

TEST(HostLock, IsFreeAgainAfterItsHolder) {
  const TempDir dir;
  { ASSERT_TRUE(FileLock::OfHost(dir.File("lock")).has_value()); }
  EXPECT_TRUE(FileLock::OfHost(dir.File("lock")).has_value());
}

TEST(HostLock, IsFreeAgainAfterAHolderThatWasKilled) {
  const TempDir dir;
  const std::string path = dir.File("lock");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = FileLock::OfHost(path);
    const char byte = held.has_value() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const auto refused = FileLock::OfHost(path);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().metadata.at("pid"), std::to_string(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::OfHost(path).has_value());
}

TEST(HostLock, FollowsNoSymbolicLink) {
  const TempDir dir;
  dir.Write("target", "");
  std::filesystem::create_symlink(dir.File("target"), dir.File("link"));
  const auto lock = FileLock::OfHost(dir.File("link"));
  ASSERT_FALSE(lock.has_value());
  EXPECT_EQ(lock.error().reason, "LOCK_FILE");
}

TEST(HostLock, RefusesWhatIsNoPlainFile) {
  const TempDir dir;
  ASSERT_EQ(mkfifo(dir.File("fifo").c_str(), 0600), 0);
  for (const std::string& path : {dir.File("fifo"), dir.File("."), dir.File("no/such/dir")}) {
    const auto lock = FileLock::OfHost(path);
    ASSERT_FALSE(lock.has_value()) << path;
    EXPECT_EQ(lock.error().reason, "LOCK_FILE");
    EXPECT_THAT(lock.error().message, HasSubstr(path));
  }
}

TEST(StateLock, ASecondHolderIsToldTheDirectoryAndThePid) {
  const TempDir dir;
  const auto first = FileLock::OfState(dir.File("."));
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = FileLock::OfState(dir.File("."));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kAlreadyExists);
  EXPECT_THAT(second.error().message, HasSubstr(dir.File(".")));
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(getpid())));
}

TEST(StateLock, ADirectoryThatIsNotThereIsNamed) {
  const TempDir dir;
  const auto lock = FileLock::OfState(dir.File("none"));
  ASSERT_FALSE(lock.has_value());
  EXPECT_EQ(lock.error().reason, "STATE_DIRECTORY");
  EXPECT_THAT(lock.error().message, HasSubstr(dir.File("none")));
}

}  // namespace
}  // namespace tinyprof
