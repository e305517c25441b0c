#include "daemon/worker/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>

#include "kernels/base/sanitizers.h"

namespace tinyprof {
namespace {

constexpr int kSandboxFailed = 100;

// What `action` returns in a process that has shut itself in; 1000 + n when it died of signal n.
int InSandbox(const std::function<int()>& action, const SandboxOptions& options = {}) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(EnterSandbox(options).has_value() ? action() : kSandboxFailed);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

// 0 when the call worked, its errno otherwise.
int ErrnoOf(int64_t result) { return result >= 0 ? 0 : errno; }

TEST(SandboxTest, LeavesWhatAProfilerNeeds) {
  EXPECT_EQ(InSandbox([] { return 0; }), 0);
  EXPECT_EQ(InSandbox([] { return ErrnoOf(::open("/proc/self/status", O_RDONLY)); }), 0);
  EXPECT_EQ(InSandbox([] {
              int value = 1;
              std::thread([&] { value = 0; }).join();
              return value;
            }),
            0);
  EXPECT_EQ(InSandbox([] {
              void* memory =
                  ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return memory == MAP_FAILED ? errno : 0;
            }),
            0);
}

TEST(SandboxTest, TakesProgramsAndProcesses) {
  EXPECT_EQ(InSandbox([] {
              char* const arguments[] = {nullptr};
              return ErrnoOf(::execve("/bin/true", arguments, arguments));
            }),
            EPERM);
  EXPECT_EQ(InSandbox([] { return ErrnoOf(::fork()); }), EPERM);
}

TEST(SandboxTest, TakesTheNetwork) {
  EXPECT_EQ(InSandbox([] { return ErrnoOf(::socket(AF_INET, SOCK_STREAM, 0)); }), EPERM);
  EXPECT_EQ(InSandbox([] { return ErrnoOf(::socket(AF_UNIX, SOCK_STREAM, 0)); }), EPERM);
}

TEST(SandboxTest, TakesSignalsToOthersButNotToItself) {
  EXPECT_EQ(InSandbox([] { return ErrnoOf(::kill(::getppid(), 0)); }), EPERM);
  EXPECT_EQ(InSandbox([]() -> int { std::abort(); }), 1000 + SIGABRT);
}

TEST(SandboxTest, TakesWritingToFiles) {
  const std::string path = ::testing::TempDir() + "/sandbox-test-file";
  ::unlink(path.c_str());
  EXPECT_EQ(InSandbox([&] { return ErrnoOf(::open(path.c_str(), O_CREAT | O_WRONLY, 0600)); }),
            EPERM);
  EXPECT_EQ(InSandbox([&] { return ErrnoOf(::open("/dev/null", O_WRONLY)); }), EPERM);
  EXPECT_EQ(InSandbox([&] { return ErrnoOf(::open("/dev/null", O_RDWR)); }), EPERM);
  EXPECT_EQ(InSandbox([&] { return ErrnoOf(::unlink("/no/such/file")); }), EPERM);
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(SandboxTest, TakesCoreDumps) {
  EXPECT_EQ(InSandbox([] {
              rlimit limit{};
              ::getrlimit(RLIMIT_CORE, &limit);
              return limit.rlim_max == 0 ? 0 : 1;
            }),
            0);
}

TEST(SandboxTest, FilterCanBeLeftOut) {
  EXPECT_EQ(InSandbox([] { return ErrnoOf(::socket(AF_UNIX, SOCK_STREAM, 0)); },
                      {.filter_system_calls = false}),
            0);
}

TEST(SandboxTest, LimitsTheAddressSpace) {
  if (kAddressSanitizer || kThreadSanitizer) {
    GTEST_SKIP() << "a sanitizer's shadow needs more address space than any limit leaves";
  }
  const auto map_a_gibi = [] {
    void* memory = ::mmap(nullptr, size_t{1} << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? errno : 0;
  };
  EXPECT_EQ(InSandbox(map_a_gibi, {.address_space_bytes = int64_t{1} << 29}), ENOMEM);
  EXPECT_EQ(InSandbox(map_a_gibi, {.address_space_bytes = int64_t{1} << 34}), 0);
}

// Root may raise a hard limit, but the limit is an operator's wish all the same.
TEST(SandboxTest, KeepsALowerLimitThatItWasStartedWith) {
  if (kAddressSanitizer || kThreadSanitizer) {
    GTEST_SKIP() << "a sanitizer's shadow needs more address space than any limit leaves";
  }
  constexpr rlim_t kInherited = rlim_t{4} << 30;
  for (const int64_t asked : {int64_t{1} << 31, int64_t{1} << 33}) {
    const pid_t child = ::fork();
    if (child == 0) {
      rlimit limit{.rlim_cur = kInherited, .rlim_max = kInherited};
      if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(1);
      if (!EnterSandbox({.address_space_bytes = asked}).has_value()) ::_exit(kSandboxFailed);
      ::getrlimit(RLIMIT_AS, &limit);
      const rlim_t wanted = asked < int64_t{kInherited} ? static_cast<rlim_t>(asked) : kInherited;
      ::_exit(limit.rlim_cur == wanted && limit.rlim_max == wanted ? 0 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << asked;
  }
}

TEST(AddressSpaceTest, GrowsWithEachPartAndNeverWraps) {
  const int64_t base = AddressSpaceFor(0, 0, 0);
  EXPECT_GT(base, 0);
  EXPECT_EQ(AddressSpaceFor(1000, 0, 0), base + 1000);
  EXPECT_GT(AddressSpaceFor(0, 1, 0), base);
  EXPECT_GE(AddressSpaceFor(0, 0, 1000), base + 2000) << "mapped and copied";
  EXPECT_EQ(AddressSpaceFor(INT64_MAX, 1, 0), INT64_MAX);
  EXPECT_EQ(AddressSpaceFor(0, 0, INT64_MAX), INT64_MAX);
}

}  // namespace
}  // namespace tinyprof
