// Neoverse N1: 6 counters and one for cycles.
#include "daemon/counters/catalogue/family_table.h"

namespace tinyprof::catalogue {
namespace {

constexpr std::string_view kNoOperationsReason =
    "NOT_COUNTED_BY_CPU: Neoverse N1 counts floating-point instructions but not operations";

constexpr EventEntry kEvents[] = {
    {"CPU_CYCLES", Raw(0x11)},
    {"INST_RETIRED", Raw(0x08)},
    {"L1D_CACHE_REFILL", Raw(0x03)},
    {"L2D_CACHE_REFILL", Raw(0x17)},
    {"L3D_CACHE_REFILL", Raw(0x2a)},
    {"LL_CACHE_MISS_RD", Raw(0x37)},
    {"STALL_BACKEND", Raw(0x24)},
    {"BR_MIS_PRED_RETIRED", Raw(0x22)},
    {"DTLB_WALK", Raw(0x34)},
    {"PAPI_TOT_CYC", Raw(0x11)},
    {"PAPI_TOT_INS", Raw(0x08)},
    kKernelCycles,
    kKernelInstructions,
};

constexpr Row kRows[] = {
    {.metric = Metric::kFlops, .absent_reason = kNoOperationsReason},
    {.metric = Metric::kFlopsSingle, .absent_reason = kNoOperationsReason},
    {.metric = Metric::kFlopsDouble, .absent_reason = kNoOperationsReason},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "CPU_CYCLES"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "PAPI_TOT_CYC"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "perf::CYCLES"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "INST_RETIRED"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "PAPI_TOT_INS"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "perf::INSTRUCTIONS"},
    {.metric = Metric::kL1dMisses, .rule = kFillsOfUnknownCause, .formula = "L1D_CACHE_REFILL"},
    {.metric = Metric::kL2Misses, .rule = kFillsOfUnknownCause, .formula = "L2D_CACHE_REFILL"},
    {.metric = Metric::kL3Misses, .rule = kFillsOfUnknownCause, .formula = "L3D_CACHE_REFILL"},
    {.metric = Metric::kL3Misses,
     .rule = kFillsOfUnknownCause,
     .formula = "LL_CACHE_MISS_RD",
     .caveat = "reads alone"},
    {.metric = Metric::kDramBytes,
     .rule = kEstimatedReads,
     .formula = "64*LL_CACHE_MISS_RD",
     .caveat = "64 bytes for each read that missed the last level; writes are left out"},
    {.metric = Metric::kStallCycles,
     .rule = kSpeculative,
     .formula = "STALL_BACKEND",
     .caveat = "cycles in which nothing was dispatched for want of resources or data"},
    {.metric = Metric::kBranchMisses, .rule = kRetired, .formula = "BR_MIS_PRED_RETIRED"},
    {.metric = Metric::kDtlbMisses, .rule = kSpeculative, .formula = "DTLB_WALK"},
};

}  // namespace

constexpr FamilyTable kNeoverseN1 = {kEvents, kRows};

}  // namespace tinyprof::catalogue
