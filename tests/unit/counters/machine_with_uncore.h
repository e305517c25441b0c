// A folder of files that stands for the /sys of a machine whose memory controllers count.
#pragma once

#include <string>

#include "file_tree.h"

namespace tinyprof {

class MachineWithUncore : public FileTree {
 public:
  static constexpr const char* kDevices = "sys/bus/event_source/devices/";

  // As Linux shows a Skylake server's channel.
  void AddIntelChannel(const std::string& name, int type, const std::string& cpumask,
                       const std::string& read = "cas_count_read",
                       const std::string& write = "cas_count_write") {
    const std::string pmu = kDevices + name + "/";
    Write(pmu + "type", std::to_string(type) + "\n");
    Write(pmu + "cpumask", cpumask + "\n");
    Write(pmu + "format/event", "config:0-7\n");
    Write(pmu + "format/umask", "config:8-15\n");
    Write(pmu + "events/clockticks", "event=0x00,umask=0x00\n");
    AddEvent(pmu, read, "event=0x04,umask=0x03");
    AddEvent(pmu, write, "event=0x04,umask=0x0c");
  }

  // As Linux 6.7 shows a Zen 4's channel: no events folder.
  void AddAmdChannel(const std::string& name, int type, const std::string& cpumask) {
    const std::string pmu = kDevices + name + "/";
    Write(pmu + "type", std::to_string(type) + "\n");
    Write(pmu + "cpumask", cpumask + "\n");
    Write(pmu + "format/event", "config:0-7\n");
    Write(pmu + "format/rdwrmask", "config:8-9\n");
  }

 private:
  void AddEvent(const std::string& pmu, const std::string& name, const std::string& terms) {
    Write(pmu + "events/" + name, terms + "\n");
    Write(pmu + "events/" + name + ".scale", "6.103515625e-5\n");
    Write(pmu + "events/" + name + ".unit", "MiB\n");
  }
};

}  // namespace tinyprof
