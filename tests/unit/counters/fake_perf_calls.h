// A kernel whose perf events answer as a test says.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "daemon/counters/perf/perf_calls.h"

namespace tinyprof {

class FakePerfCalls final : public PerfCalls {
 public:
  struct File {
    perf_event_attr attributes{};
    pid_t pid = 0;
    int cpu = 0;
    int group_fd = -1;
  };

  // Values by (type, config), and the times of every group.
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> values;
  uint64_t enabled_ns = 1000;
  uint64_t running_ns = 1000;
  // Failing opens: by config, and by number of open files.
  std::map<uint64_t, int> refused_configs;
  size_t file_limit = 1000;
  size_t counters = 6;          // hardware events of a group that the driver takes
  size_t free_counters = 6;     // hardware events of a group that get a counter; else 0-byte reads
  std::set<int> failing_reads;  // numbered from 0: answer EIO
  std::set<int> short_reads;    // numbered from 0: answer 8 bytes
  unsigned long failing_control = 0;  // this request answers EBUSY
  int reads = 0;
  std::vector<File> opened;   // every open that succeeded
  std::map<int, File> files;  // those that are open now
  std::vector<int> closed;    // in order

  int Open(const perf_event_attr& attributes, pid_t pid, int cpu, int group_fd) override {
    if (const auto refused = refused_configs.find(attributes.config);
        refused != refused_configs.end()) {
      return -refused->second;
    }
    if (files.size() >= file_limit) {
      return -EMFILE;
    }
    if (attributes.type != PERF_TYPE_SOFTWARE && HardwareEvents(group_fd) >= counters) {
      return -EINVAL;
    }
    const File file = {attributes, pid, cpu, group_fd};
    files[next_fd_] = file;
    opened.push_back(file);
    return next_fd_++;
  }

  int Control(int fd, unsigned long request) override {
    if (files.count(fd) == 0) {
      return -EBADF;
    }
    return request == failing_control ? -EBUSY : 0;
  }

  ssize_t Read(int fd, void* buffer, size_t bytes) override {
    const int number = reads++;
    if (failing_reads.count(number) != 0) {
      return -EIO;
    }
    if (short_reads.count(number) != 0) {
      return 8;
    }
    if (HardwareEvents(fd) > free_counters) {
      return 0;
    }
    const bool group = (files[fd].attributes.read_format & PERF_FORMAT_GROUP) != 0;
    std::vector<uint64_t> members;
    for (const auto& [member, file] : files) {
      if (member == fd || file.group_fd == fd) {
        members.push_back(values[{file.attributes.type, file.attributes.config}]);
      }
    }
    // As the kernel lays it out: "nr, times, values" of a group, "value, times" of one event.
    std::vector<uint64_t> words = {group ? members.size() : members[0], enabled_ns, running_ns};
    if (group) {
      words.insert(words.end(), members.begin(), members.end());
    }
    const size_t size = words.size() * sizeof(uint64_t);
    if (size > bytes) {
      return -ENOSPC;
    }
    std::memcpy(buffer, words.data(), size);
    return static_cast<ssize_t>(size);
  }

  void Close(int fd) override {
    files.erase(fd);
    closed.push_back(fd);
  }

 private:
  // Of the group that this leader has; none yet without one.
  size_t HardwareEvents(int group_fd) const {
    if (group_fd < 0) {
      return 0;
    }
    return static_cast<size_t>(std::count_if(files.begin(), files.end(), [&](const auto& entry) {
      return (entry.first == group_fd || entry.second.group_fd == group_fd) &&
             entry.second.attributes.type != PERF_TYPE_SOFTWARE;
    }));
  }

  int next_fd_ = 3;
};

}  // namespace tinyprof
