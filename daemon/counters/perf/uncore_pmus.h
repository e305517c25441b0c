// The memory controllers' counters that the kernel offers, read from sysfs.
//
// Formats: Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events} of Linux.
// Intel's PMUs name their events there ("cas_count_read" with .scale and .unit); AMD's umc has
// formats only, so its two events are those of AMD's manual, as in Linux' perf: command 0x0a, 64
// bytes each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

struct UncoreEvent {
  std::string name;  // "cas_count_read"
  uint64_t config = 0;
  uint64_t config1 = 0;
  uint64_t config2 = 0;
  double bytes_per_count = 0;
};

// One kind of controller channel; the kernel counts it once for each of `cpus`.
struct MemoryPmu {
  std::string name;  // "uncore_imc_0"
  uint32_t type = 0;
  std::vector<int> cpus;  // one of each socket
  std::vector<UncoreEvent> reads;
  std::vector<UncoreEvent> writes;
};

// All memory controllers below `root`, which together see all traffic. FAILED_PRECONDITION /
// "NO_UNCORE" where there are none that can be added up, with what is there instead.
Result<std::vector<MemoryPmu>> FindMemoryPmus(const std::string& root);

// Sets the bits of `terms` ("event=0x04,umask=0x03") by the PMU's formats ("event" ->
// "config:0-7"). INVALID_ARGUMENT / "BAD_UNCORE_EVENT" for a term without format, a value that does
// not fit and what is no term.
Result<UncoreEvent> EncodeUncoreEvent(std::string_view terms,
                                      const std::map<std::string, std::string>& formats);

// Bytes of one count, from the texts of an event's .scale and .unit ("6.103515625e-5", "MiB").
Result<double> BytesPerCount(std::string_view scale, std::string_view unit);

}  // namespace tinyprof
