#include "tests/pmu/stand_in_script.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace tinyprof {
namespace {

// AMD's Processor Programming References, family 19h models 21h (Zen 3) and 11h (Zen 4): PMCx003,
// whose 9-bit increments take a pair of counters, PMCx076, PMCx0C0, PMCx060 (RdBlkL, RdBlkX,
// LsRdBlkC/S, ChangeToX) and PMCx064 (LsRdBlkC).
Cpu Zen(const std::string& pmu, uint64_t flops_config) {
  return {
      .pmu = pmu,
      .counters = 6,
      .cycles = {"CYCLES_NOT_IN_HALT", 0x76, "cycles"},
      .instructions = {"RETIRED_INSTRUCTIONS", 0xc0, "instructions"},
      .flops = {{{"RETIRED_SSE_AVX_FLOPS:ANY", flops_config, "flops", 2}, 1}},
      .l1d_misses = {"REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:LS_RD_BLK_C_S:CHANGE_TO_X", 0xe860,
                     "l1d_misses"},
      .l2_misses = {"CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C", 0x0864, "l2_misses"},
      .l3_misses = {}};
}

// Intel's SDM, volume 3B, and event lists: 3CH, C0H (both also on fixed counters), C7H by unit
// mask 01H scalar double, 02H scalar single, 04H/08H 128 bits double/single, 10H/20H 256 bits,
// 40H/80H 512 bits; 51H, 2EH, and F1H, which Golden Cove moved to 25H.
Cpu Intel(const std::string& pmu, int counters, std::vector<FlopEvent> flops) {
  return {
      .pmu = pmu,
      .counters = counters,
      .cycles = {pmu == "skx" ? "CPU_CLK_THREAD_UNHALTED:THREAD_P" : "CPU_CLK_UNHALTED:THREAD_P",
                 0x3c, "cycles", 0},
      .instructions = {"INST_RETIRED:ANY_P", 0xc0, "instructions", 0},
      .flops = std::move(flops),
      .l1d_misses = {"L1D:REPLACEMENT", 0x0151, "l1d_misses"},
      .l2_misses = {"L2_LINES_IN:ALL", pmu == "spr" ? 0x1f25U : 0x1ff1U, "l2_misses"},
      .l3_misses = {{"LONGEST_LAT_CACHE:MISS", 0x412e, "l3_misses"}}};
}

std::vector<FlopEvent> SkylakeFlops() {
  return {{{"FP_ARITH:SCALAR_SINGLE", 0x02c7, "fp_scalar_single"}, 1},
          {{"FP_ARITH:128B_PACKED_SINGLE", 0x08c7, "fp_128_single"}, 4},
          {{"FP_ARITH:256B_PACKED_SINGLE", 0x20c7, "fp_256_single"}, 8},
          {{"FP_ARITH:512B_PACKED_SINGLE", 0x80c7, "fp_512_single"}, 16},
          {{"FP_ARITH:SCALAR_DOUBLE", 0x01c7, "fp_scalar_double"}, 1},
          {{"FP_ARITH:128B_PACKED_DOUBLE", 0x04c7, "fp_128_double"}, 2},
          {{"FP_ARITH:256B_PACKED_DOUBLE", 0x10c7, "fp_256_double"}, 4},
          {{"FP_ARITH:512B_PACKED_DOUBLE", 0x40c7, "fp_512_double"}, 8}};
}

// Ice Lake joins widths with the same number of operations by or-ing their unit masks.
std::vector<FlopEvent> IceLakeFlops() {
  return {{{"FP_ARITH_INST_RETIRED:SCALAR", 0x03c7, "fp_scalar_single+fp_scalar_double"}, 1},
          {{"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", 0x04c7, "fp_128_double"}, 2},
          {{"FP_ARITH_INST_RETIRED:4_FLOPS", 0x18c7, "fp_128_single+fp_256_double"}, 4},
          {{"FP_ARITH_INST_RETIRED:8_FLOPS", 0x60c7, "fp_256_single+fp_512_double"}, 8},
          {{"FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", 0x80c7, "fp_512_single"}, 16}};
}

std::string EventLine(const CpuEvent& event, const std::string& count) {
  return fmt::format("event raw {:#x} cost {} {}\n", event.config, event.counter_cost, count);
}

}  // namespace

std::vector<CpuEvent> Cpu::events() const {
  std::vector<CpuEvent> all = {cycles, instructions, l1d_misses, l2_misses};
  for (const FlopEvent& flop : flops) {
    all.push_back(flop.event);
  }
  all.insert(all.end(), l3_misses.begin(), l3_misses.end());
  return all;
}

const std::vector<Cpu>& StandInCpus() {
  // Skylake's eight counters are shared by two hardware threads.
  static const std::vector<Cpu> cpus = {
      Zen("amd64_fam19h_zen3", 0x0f03), Zen("amd64_fam19h_zen4", 0x1f03),
      Intel("skx", 4, SkylakeFlops()),  Intel("icx", 8, IceLakeFlops()),
      Intel("spr", 8, IceLakeFlops()),
  };
  return cpus;
}

const Cpu& ForcedCpu() {
  const std::vector<Cpu>& cpus = StandInCpus();
  const char* const forced = std::getenv("LIBPFM_FORCE_PMU");
  const auto found = std::find_if(cpus.begin(), cpus.end(), [&](const Cpu& cpu) {
    return forced != nullptr && cpu.pmu == forced;
  });
  if (found == cpus.end()) {
    fmt::print(stderr, "run by ctest, which sets LD_PRELOAD and LIBPFM_FORCE_PMU\n");
    std::abort();
  }
  return *found;
}

StandInScript::StandInScript(const Cpu& cpu) {
  Line(fmt::format("counters {}", cpu.counters));
  // PAPI and tinyprof ask by the kernel's generic instructions event whether there is a PMU.
  Line("event hardware 1 cost 0 signal instructions");
  for (const CpuEvent& event : cpu.events()) {
    text_ += EventLine(event, "signal " + event.signals);
  }
}

StandInScript& StandInScript::Line(const std::string& line) {
  text_ += line + "\n";
  return *this;
}

StandInScript& StandInScript::Event(const CpuEvent& event, const std::string& count) {
  text_ = EventLine(event, count) + text_;
  return *this;
}

void StandInScript::Apply() const {
  using SetRules = const char* (*)(const char*);
  const auto set_rules = reinterpret_cast<SetRules>(dlsym(RTLD_DEFAULT, "TinyprofStandInSetRules"));
  ASSERT_NE(set_rules, nullptr) << "the stand-in is not loaded: run by ctest";
  const char* const bad_line = set_rules(text_.c_str());
  ASSERT_EQ(bad_line, nullptr) << bad_line;
}

void StandInScript::ApplyAfresh() const {
  const auto stop_all = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "TinyprofStandInStopAll"));
  ASSERT_NE(stop_all, nullptr) << "the stand-in is not loaded: run by ctest";
  stop_all();
  Apply();
}

int64_t DeclaredByThisThread(WorkSignal signal) {
  using Declared = int64_t (*)(int);
  const auto declared = reinterpret_cast<Declared>(dlsym(RTLD_DEFAULT, "TinyprofStandInDeclared"));
  EXPECT_NE(declared, nullptr) << "the stand-in is not loaded: run by ctest";
  return declared == nullptr ? 0 : declared(static_cast<int>(signal));
}

bool PassesInChild(const std::string& variable, const char* value, void (*body)()) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (value == nullptr) {
      unsetenv(variable.c_str());
    } else {
      setenv(variable.c_str(), value, 1);
    }
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status == 0;
}

}  // namespace tinyprof
