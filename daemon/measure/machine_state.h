// The state of the machine before and after a run: clock, load, core-to-core latency, stolen time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/measure/measure.h"

namespace tinyprof {

class MachineWatch {
 public:
  // Looks at the machine. `root`: proc/ and sys/ are looked up below it.
  explicit MachineWatch(const MeasureOptions& options, std::string root = "/");
  // Absent when no sample was good.
  std::optional<double> clock_hz() const {
    return state_.clock_hz > 0 ? std::optional(state_.clock_hz) : std::nullopt;
  }
  // Looks again and returns both. Adds what speaks against the run to `warnings`.
  MachineState Finish(std::vector<std::string>& warnings);

 private:
  std::optional<double> PingPongNs(std::vector<std::string>& warnings) const;

  const MeasureOptions& options_;
  std::string root_;
  MachineState state_;
  std::optional<int64_t> steal_before_ns_;
  std::vector<std::string> warnings_;
};

// CPU time that the hypervisor took from this machine since it booted, from the text of /proc/stat,
// whose unit is `ticks_per_second`; absent when the text does not say.
std::optional<int64_t> StealNs(const std::string& proc_stat, int64_t ticks_per_second);

// Times that the kernel took a CPU away from a thread of this process for another program, so far.
int64_t InvoluntarySwitches();

// Largest resident set of this process so far, bytes.
int64_t MaxResidentBytes();

// MaxResidentBytes() around a calibration of counters within a run.
struct CalibrationPeak {
  int64_t before_bytes = 0;
  int64_t after_bytes = 0;
};
// Warns when run.max_resident_bytes is the calibration's, not the model's: the kernel keeps one
// peak for the whole life of a process.
void WarnOfCalibration(const CalibrationPeak& peak, RunMeasurement& run);

}  // namespace tinyprof
