// The form of a file of the catalogue: the events of a family of CPUs and the formulas over them.
//
// Names are those of libpfm4 4.13 and PAPI 7.0.0. Encodings are checked against libpfm4 and the
// vendors' lists by tests/unit/counters/catalogue_lint_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "daemon/counters/event_catalogue.h"

namespace tinyprof::catalogue {

struct EventEntry {
  std::string_view name;
  std::optional<RawEvent> raw;  // absent: only PAPI knows what this preset stands for here
  int counters = 1;             // of the PMU, that it holds; 0: not known
};

// Formulas of a metric are tried in the order of their rows. A metric without a formula has one row
// whose `absent_reason`, "CODE: sentence", says why.
struct Row {
  Metric metric = Metric::kFlops;
  CountingRule rule = {};
  std::string_view formula = {};
  std::string_view caveat = {};   // what the rule does not say; no full stop
  std::string_view erratum = {};  // the vendor's number, "SKL057" or "AMD 1292", where one applies
  std::string_view absent_reason = {};
};

struct FamilyTable {
  std::span<const EventEntry> events;
  std::span<const Row> rows;
};

extern const FamilyTable kGeneric;
extern const FamilyTable kSkx;
extern const FamilyTable kIcx;
extern const FamilyTable kSpr;
extern const FamilyTable kZen2;
extern const FamilyTable kZen3;
extern const FamilyTable kZen4;
extern const FamilyTable kNeoverseN1;
extern const FamilyTable kNeoverseV1;
extern const FamilyTable kNeoverseN2;
extern const FamilyTable kNeoverseV2;

const FamilyTable& TableOf(CpuFamily family);

// What the kernel counts on every CPU with a PMU.
inline constexpr EventEntry kKernelCycles = {"perf::CYCLES", RawEvent{RawEvent::kHardware, 0}};
inline constexpr EventEntry kKernelInstructions = {"perf::INSTRUCTIONS",
                                                   RawEvent{RawEvent::kHardware, 1}};

constexpr RawEvent Raw(uint64_t config, uint64_t config1 = 0) {
  return {RawEvent::kRaw, config, config1};
}

// Of rows that need to say no more.
inline constexpr CountingRule kRetired = {.speculative = Answer::kNo};
inline constexpr CountingRule kSpeculative = {.speculative = Answer::kYes};
inline constexpr CountingRule kFills = {.speculative = Answer::kYes, .prefetches = Answer::kYes};
inline constexpr CountingRule kDemandFills = {.speculative = Answer::kYes,
                                              .prefetches = Answer::kNo};
inline constexpr CountingRule kFillsOfUnknownCause = {.speculative = Answer::kYes};
inline constexpr CountingRule kEstimatedTraffic = {
    .speculative = Answer::kYes, .prefetches = Answer::kYes, .proxy = true};
inline constexpr CountingRule kEstimatedReads = {.speculative = Answer::kYes, .proxy = true};

}  // namespace tinyprof::catalogue
