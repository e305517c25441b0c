// A CPU made of a table: what each of its events counts of a known loop. Its loops run nothing.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/counters/known_work.h"
#include "fake_backend.h"

namespace tinyprof {

// Facts of loops as they are on x86-64, by hand.
inline std::vector<LoopFacts> X86Facts() {
  const auto flops = [](const char* name, WorkKind kind, bool f64, int64_t bits, int64_t lanes,
                        int64_t active) {
    return LoopFacts{.name = name,
                     .kind = kind,
                     .double_precision = f64,
                     .width_bits = bits,
                     .lanes = lanes,
                     .active_lanes = active,
                     .arithmetic = 8,
                     .instructions = 10};
  };
  const auto loads = [](const char* name, WorkKind kind, WorkingSet set, bool in_order) {
    return LoopFacts{.name = name,
                     .kind = kind,
                     .instructions = 3,
                     .loads = 1,
                     .set = set,
                     .in_order = in_order};
  };
  return {
      flops("scalar_add_float32", WorkKind::kAdd, false, 32, 1, 1),
      flops("scalar_add_float64", WorkKind::kAdd, true, 64, 1, 1),
      flops("avx2_add_float32", WorkKind::kAdd, false, 256, 8, 8),
      flops("avx512_add_float64", WorkKind::kAdd, true, 512, 8, 8),
      flops("avx2_fma_float32", WorkKind::kFma, false, 256, 8, 8),
      flops("avx512_fma_float64", WorkKind::kFma, true, 512, 8, 8),
      flops("sse_max_float32", WorkKind::kMinMax, false, 128, 4, 4),
      flops("avx2_min_float64", WorkKind::kMinMax, true, 256, 4, 4),
      flops("avx512_add_masked_float32", WorkKind::kAdd, false, 512, 16, 8),
      flops("avx512_add_masked_float64", WorkKind::kAdd, true, 512, 8, 4),
      loads("load_dram_random", WorkKind::kLoad, WorkingSet::kDram, false),
      loads("load_l1_random", WorkKind::kLoad, WorkingSet::kL1, false),
      loads("load_l2_random", WorkKind::kLoad, WorkingSet::kL2, false),
      loads("load_l3_random", WorkKind::kLoad, WorkingSet::kL3, false),
      loads("load_dram_in_order", WorkKind::kLoad, WorkingSet::kDram, true),
      {.name = "branch_random", .kind = WorkKind::kBranch, .instructions = 8, .branches = 3},
      loads("load_pages", WorkKind::kPages, WorkingSet::kL2, false),
  };
}

class FakeCpu {
 public:
  static constexpr int64_t kIterations = 1000;
  // What one iteration of a loop counts.
  using Rule = std::function<double(const LoopFacts&)>;

  explicit FakeCpu(const std::string& pmu) {
    backend.info_.pmu = pmu;
    for (const LoopFacts& facts : X86Facts()) {
      work.loops.push_back(
          {.facts = facts, .iterations = kIterations, .run = [this, facts](int64_t n) {
             if (on_run) {
               on_run(facts);
             }
             for (const auto& [event, rule] : rules_) {
               backend.Happen(
                   0, event,
                   static_cast<int64_t>(rule(facts) * static_cast<double>(n)) + stray_counts);
             }
           }});
    }
  }
  FakeCpu(const FakeCpu&) = delete;
  FakeCpu& operator=(const FakeCpu&) = delete;

  void Has(const std::string& event, Rule rule) {
    backend.events.insert(event);
    rules_[event] = std::move(rule);
  }

  FakeBackend backend;
  KnownWork work;
  int64_t stray_counts = 0;  // of each event in each dose of work, whatever its size
  std::function<void(const LoopFacts&)> on_run;

 private:
  std::map<std::string, Rule> rules_;
};

}  // namespace tinyprof
