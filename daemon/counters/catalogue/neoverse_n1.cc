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
    {.metric = Metric::kCycles, .formula = "CPU_CYCLES", .rule = kRetired},
    {.metric = Metric::kCycles, .formula = "PAPI_TOT_CYC", .rule = kRetired},
    {.metric = Metric::kCycles, .formula = "perf::CYCLES", .rule = kRetired},
    {.metric = Metric::kInstructions, .formula = "INST_RETIRED", .rule = kRetired},
    {.metric = Metric::kInstructions, .formula = "PAPI_TOT_INS", .rule = kRetired},
    {.metric = Metric::kInstructions, .formula = "perf::INSTRUCTIONS", .rule = kRetired},
    {.metric = Metric::kL1dMisses, .formula = "L1D_CACHE_REFILL", .rule = kFillsOfUnknownCause},
    {.metric = Metric::kL2Misses, .formula = "L2D_CACHE_REFILL", .rule = kFillsOfUnknownCause},
    {.metric = Metric::kL3Misses, .formula = "L3D_CACHE_REFILL", .rule = kFillsOfUnknownCause},
    {.metric = Metric::kL3Misses,
     .formula = "LL_CACHE_MISS_RD",
     .rule = kFillsOfUnknownCause,
     .caveat = "reads alone"},
    {.metric = Metric::kDramBytes,
     .formula = "64*LL_CACHE_MISS_RD",
     .rule = kEstimatedReads,
     .caveat = "64 bytes for each read that missed the last level; writes are left out"},
    {.metric = Metric::kStallCycles,
     .formula = "STALL_BACKEND",
     .rule = kSpeculative,
     .caveat = "cycles in which nothing was dispatched for want of resources or data"},
    {.metric = Metric::kBranchMisses, .formula = "BR_MIS_PRED_RETIRED", .rule = kRetired},
    {.metric = Metric::kDtlbMisses, .formula = "DTLB_WALK", .rule = kSpeculative},
};

}  // namespace

constexpr FamilyTable kNeoverseN1 = {kEvents, kRows};

}  // namespace tinyprof::catalogue
