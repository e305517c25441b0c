// Writes the rules of the stand-in PMU from tests, and the processors that tests run on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/base/declared_work.h"

namespace tinyprof {

// An event of a processor as its maker documents it.
struct CpuEvent {
  std::string name;      // libpfm4's
  uint64_t config;       // event select + unit mask << 8, from the maker's manual
  std::string signals;   // what the event counts, in the words of the rules
  int counter_cost = 1;  // programmable counters; 0: a fixed one
};

// The event by which a processor counts FLOPs of one kind, and how many each count stands for.
struct FlopEvent {
  CpuEvent event;
  int64_t flops_each;
};

struct Cpu {
  std::string pmu;  // libpfm4's name
  int counters;     // programmable, for each hardware thread
  CpuEvent cycles;
  CpuEvent instructions;
  std::vector<FlopEvent> flops;
  CpuEvent l1d_misses;
  CpuEvent l2_misses;
  std::vector<CpuEvent> l3_misses;  // empty where the CPU counts none for a thread

  // All of them.
  std::vector<CpuEvent> events() const;
};

const std::vector<Cpu>& StandInCpus();
// The one of them that LIBPFM_FORCE_PMU names.
const Cpu& ForcedCpu();

// Rules line by line.
class StandInScript {
 public:
  StandInScript() = default;
  // The counters and all events of a processor, each counting its declared work.
  explicit StandInScript(const Cpu& cpu);

  // Adds one line, as stand_in_rules.h says.
  StandInScript& Line(const std::string& line);
  // A line for an event, before all that are there, so that it decides.
  StandInScript& Event(const CpuEvent& event, const std::string& count);

  const std::string& text() const { return text_; }
  // Gives the rules to the stand-in, for events that are open too. Fails the test when there is no
  // stand-in, or it does not understand.
  void Apply() const;
  // Also takes the counters from every event that is open.
  void ApplyAfresh() const;

 private:
  std::string text_;
};

// What the calling thread has declared so far.
int64_t DeclaredByThisThread(WorkSignal signal);

// Runs `body` in a child process, which has a PAPI of its own, with one environment variable set
// or, where `value` is null, removed. False, and the child's failures printed, when one of its
// checks fails.
bool PassesInChild(const std::string& variable, const char* value, void (*body)());

}  // namespace tinyprof
