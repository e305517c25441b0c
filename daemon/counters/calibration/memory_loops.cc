#include "daemon/counters/calibration/memory_loops.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "daemon/counters/calibration/line_chain.h"

namespace tinyprof {
namespace {

constexpr int64_t kLine = LineChain::kLineBytes;
// Prefetchers fetch a line's neighbour in the same 128 bytes along with it.
constexpr int64_t kApart = 4 * kLine;
constexpr int64_t kFlushedLines = 16'384;
constexpr int64_t kLoadsPerDose = 4'096;
constexpr int64_t kFlushedLoadsPerDose = 1'024;  // flushing a line takes up to a microsecond
// Sets up to this size are walked before each dose, since other loops may have put them out of
// their cache. A larger one would take too long, and has a level to itself.
constexpr int64_t kWalkedLines = 16'384;
constexpr int64_t kPageBytes = 4'096;
constexpr int64_t kPages = 8'192;  // second-level TLBs hold 512 to 3072
constexpr int64_t kBranchesPerDose = 10'000;

std::optional<int64_t> SizeOf(std::span<const Cache> caches, int level) {
  for (const Cache& cache : caches) {
    if (cache.level == level) {
      return cache.byte_size;
    }
  }
  return std::nullopt;
}

LoopFacts LoadFacts(std::string name, WorkKind kind, WorkingSet set, bool in_order) {
  return {.name = std::move(name),
          .kind = kind,
          .instructions = 3,
          .loads = 1,
          .set = set,
          .in_order = in_order};
}

// Made by the first prepare, shared by the copies of a loop.
class LazyChain {
 public:
  explicit LazyChain(const LineChain::Shape& shape) : shape_(shape) {}
  LineChain& Get() {
    if (!chain_.has_value()) {
      chain_.emplace(shape_);
      chain_->Follow(shape_.lines);  // everything is in the cache that it will be found in
    }
    return *chain_;
  }

 private:
  LineChain::Shape shape_;
  std::optional<LineChain> chain_;
};

KnownLoop ChainLoop(LoopFacts facts, const LineChain::Shape& shape, bool flushed) {
  const auto chain = std::make_shared<LazyChain>(shape);
  return {.facts = std::move(facts),
          .iterations = flushed ? kFlushedLoadsPerDose : kLoadsPerDose,
          .prepare =
              [chain, flushed, shape](int64_t n) {
                LineChain& lines = chain->Get();
                if (flushed) {
                  lines.FlushNext(n);
                } else if (shape.lines <= kWalkedLines) {
                  lines.Follow(shape.lines);
                }
                return lines.ready();
              },
          .run = [chain](int64_t n) { chain->Get().Follow(n); }};
}

// One iteration takes one of two ways of equal length by a bit of a long pseudo-random sequence,
// which goes on from call to call.
void RandomBranches(int64_t n) {
  static thread_local uint64_t state = 1;
  if (n <= 0) {
    return;
  }
  constexpr uint64_t kMultiplier = 6364136223846793005U;  // Knuth, MMIX
#if defined(__x86_64__)
  asm volatile(
      "1:\n"
      "imulq %2, %0\n"
      "addq $1, %0\n"
      "btq $60, %0\n"
      "jc 2f\n"
      "nop\n"
      "jmp 3f\n"
      "2:\n"
      "nop\n"
      "jmp 3f\n"
      "3:\n"
      "decq %1\n"
      "jnz 1b"
      : "+r"(state), "+r"(n)
      : "r"(kMultiplier)
      : "cc");
#elif defined(__aarch64__)
  asm volatile(
      "1:\n"
      "madd %0, %0, %2, %3\n"
      "tbnz %0, #60, 2f\n"
      "nop\n"
      "b 3f\n"
      "2:\n"
      "nop\n"
      "b 3f\n"
      "3:\n"
      "subs %1, %1, #1\n"
      "b.ne 1b"
      : "+&r"(state), "+&r"(n)
      : "r"(kMultiplier), "r"(uint64_t{1})
      : "cc");
#endif
}

#if defined(__x86_64__)
constexpr int64_t kBranchInstructions = 8;
#elif defined(__aarch64__)
constexpr int64_t kBranchInstructions = 6;
#endif

}  // namespace

std::vector<LoadSet> LoadSetsFor(std::span<const Cache> caches) {
  std::vector<LoadSet> sets = {
      {WorkingSet::kDram, kFlushedLines, kApart, /*in_order=*/false, /*flushed=*/true}};
  const std::optional<int64_t> l1 = SizeOf(caches, 1);
  const std::optional<int64_t> l2 = SizeOf(caches, 2);
  const std::optional<int64_t> l3 = SizeOf(caches, 3);
  if (l1.has_value()) {
    sets.push_back({WorkingSet::kL1, *l1 / 2 / kLine, kLine, false, false});
  }
  if (l1.has_value() && l2.has_value() && 8 * *l1 <= *l2 / 2) {
    sets.push_back({WorkingSet::kL2, 8 * *l1 / kLine, kLine, false, false});
  }
  if (l2.has_value() && l3.has_value() && 4 * *l2 <= *l3) {
    sets.push_back({WorkingSet::kL3, 2 * *l2 / kLine, kApart, false, false});
  }
  sets.push_back({WorkingSet::kDram, kFlushedLines, kLine, /*in_order=*/true, /*flushed=*/true});
  return sets;
}

KnownLoop MakeLoadLoop(const LoadSet& set) {
  const std::string name =
      fmt::format("load_{}_{}", Name(set.set), set.in_order ? "in_order" : "random");
  return ChainLoop(
      LoadFacts(name, WorkKind::kLoad, set.set, set.in_order),
      {.lines = set.lines, .spacing_bytes = set.spacing_bytes, .in_order = set.in_order},
      set.flushed);
}

KnownLoop MakePagesLoop() {
  return ChainLoop(LoadFacts("load_pages", WorkKind::kPages, WorkingSet::kL2, false),
                   {.lines = kPages, .spacing_bytes = kPageBytes, .small_pages = true}, false);
}

KnownLoop MakeBranchLoop() {
  return {.facts = {.name = "branch_random",
                    .kind = WorkKind::kBranch,
                    .instructions = kBranchInstructions,
                    .branches = 3},
          .iterations = kBranchesPerDose,
          .run = RandomBranches};
}

}  // namespace tinyprof
