// Another user of the PMU, for tests that run as root.
#pragma once

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace tinyprof {

// Holds the six counters of CPU 0 that take any event; the seventh takes cycles only.
class OtherProfiler {
 public:
  OtherProfiler() {
    for (int& fd : fds_) {
      perf_event_attr attr{};
      attr.size = sizeof(attr);
      attr.type = PERF_TYPE_RAW;
      attr.config = 0x08;  // INST_RETIRED
      attr.pinned = 1;
      fd = static_cast<int>(syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0UL));
      EXPECT_GE(fd, 0);
    }
  }
  ~OtherProfiler() {
    for (const int fd : fds_) {
      close(fd);
    }
  }
  OtherProfiler(const OtherProfiler&) = delete;
  OtherProfiler& operator=(const OtherProfiler&) = delete;

 private:
  std::array<int, 6> fds_{};
};

}  // namespace tinyprof
