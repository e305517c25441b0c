// Neoverse N2 and V2, which count the same events: 6 counters and one for cycles. Vectors have 128
// bits, the unit in which scalable operations are counted.
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
     .rule = kFlops,
     .formula = "FP_FIXED_OPS_SPEC + FP_SCALE_OPS_SPEC",
     .caveat = "all precisions together"},
    {.metric = Metric::kFlopsSingle, .absent_reason = kOnePrecisionReason},
    {.metric = Metric::kFlopsDouble, .absent_reason = kOnePrecisionReason},
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

constexpr FamilyTable kNeoverseN2 = {kEvents, kRows};
constexpr FamilyTable kNeoverseV2 = kNeoverseN2;

}  // namespace tinyprof::catalogue
