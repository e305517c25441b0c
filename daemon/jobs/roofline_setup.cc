#include "daemon/jobs/roofline_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "daemon/jobs/sound_roofline.h"
#include "kernels/base/words.h"
#include "kernels/probes/working_set.h"

namespace tinyprof {
namespace {

std::string CpusText(const v1::RooflineSetup& setup) {
  return fmt::format("{} {}", setup.cpus_size() == 1 ? "CPU" : "CPUs",
                     fmt::join(setup.cpus(), ","));
}

// One thread and all of them: see MeasureRoofline.
bool HasDram(const v1::Roofline& roofline, int most_threads) {
  std::set<int> threads;
  for (const v1::BandwidthCeiling& ceiling : roofline.bandwidth()) {
    if (ceiling.level() == Name(MemoryLevel::kDram)) threads.insert(ceiling.threads());
  }
  return threads.contains(1) && threads.contains(most_threads);
}

}  // namespace

v1::RooflineSetup MakeRooflineSetup(std::span<const int> cpus, int64_t memory_limit_bytes) {
  v1::RooflineSetup setup;
  setup.mutable_cpus()->Assign(cpus.begin(), cpus.end());
  setup.set_memory_limit_bytes(memory_limit_bytes);
  return setup;
}

std::string WhyNotForSetup(const v1::Roofline& stored, const v1::RooflineSetup& now) {
  if (!stored.has_setup())
    return "does not tell with which CPUs and how much memory it was measured";
  const v1::RooflineSetup& then = stored.setup();
  if (!std::equal(then.cpus().begin(), then.cpus().end(), now.cpus().begin(), now.cpus().end())) {
    return fmt::format("was measured on {}, and tinyprofd now measures on {}", CpusText(then),
                       CpusText(now));
  }
  if (now.memory_limit_bytes() > then.memory_limit_bytes() && !HasDram(stored, now.cpus_size())) {
    return fmt::format(
        "was measured with at most {} of memory, too little for DRAM, and tinyprofd "
        "now allows {}",
        SizeText(then.memory_limit_bytes()), SizeText(now.memory_limit_bytes()));
  }
  if (stored.bandwidth_size() > 0 && stored.streams().empty()) {
    return "does not tell how fast sets of each size are read again and again";
  }
  return IsSound(stored) ? "" : "is damaged: its numbers are none of a machine";
}

}  // namespace tinyprof
