// Neoverse N2: 6 counters and one for cycles. Vectors have 128 bits, the unit in which scalable
// operations are counted.
#include "daemon/counters/catalogue/family_table.h"

namespace tinyprof::catalogue {
namespace {

constexpr CountingRule kFlops = {.flops = FlopRule{.per_fma = 2,
                                                   .lanes_in_event = true,
                                                   .masked_lanes = Answer::kUnknown,
                                                   .min_max = Answer::kUnknown},
                                 .speculative = Answer::kYes};
constexpr std::string_view kOnePrecisionReason =
    "NOT_COUNTED_BY_CPU: this CPU counts the operations of all precisions in one event, and apart "
    "only instructions";

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
    {"FP_FIXED_OPS_SPEC", Raw(0x80c1)},
    {"FP_SCALE_OPS_SPEC", Raw(0x80c0)},
    {"PAPI_TOT_CYC", Raw(0x11)},
    {"PAPI_TOT_INS", Raw(0x08)},
    kKernelCycles,
    kKernelInstructions,
};

constexpr Row kRows[] = {
    {.metric = Metric::kFlops,
     .formula = "FP_FIXED_OPS_SPEC + FP_SCALE_OPS_SPEC",
     .rule = kFlops,
     .caveat = "all precisions together"},
    {.metric = Metric::kFlopsSingle, .absent_reason = kOnePrecisionReason},
    {.metric = Metric::kFlopsDouble, .absent_reason = kOnePrecisionReason},
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

constexpr FamilyTable kNeoverseN2 = {kEvents, kRows};

}  // namespace tinyprof::catalogue
