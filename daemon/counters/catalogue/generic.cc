// CPUs of no other family: PAPI's presets, whose meaning PAPI decides for each CPU, and the events
// that the kernel maps.
#include "daemon/counters/catalogue/family_table.h"

namespace tinyprof::catalogue {
namespace {

constexpr CountingRule kUnknownFlops = {.flops = FlopRule{.per_fma = std::nullopt,
                                                          .lanes_in_event = false,
                                                          .masked_lanes = Answer::kUnknown,
                                                          .min_max = Answer::kUnknown},
                                        .speculative = Answer::kUnknown};
constexpr CountingRule kUnknown = {.speculative = Answer::kUnknown};
constexpr std::string_view kByPapi = "as PAPI defines it for this CPU";
constexpr std::string_view kByKernel = "as the kernel defines it for this CPU";
constexpr std::string_view kLoads = "as the kernel defines it for this CPU; loads alone";

// Presets may stand for several events, so the counters they hold are not known.
constexpr EventEntry kEvents[] = {
    {"PAPI_FP_OPS", std::nullopt, 0},
    {"PAPI_SP_OPS", std::nullopt, 0},
    {"PAPI_DP_OPS", std::nullopt, 0},
    {"PAPI_TOT_CYC", std::nullopt, 0},
    {"PAPI_TOT_INS", std::nullopt, 0},
    {"PAPI_L1_DCM", std::nullopt, 0},
    {"PAPI_L2_DCM", std::nullopt, 0},
    {"PAPI_L3_TCM", std::nullopt, 0},
    {"PAPI_RES_STL", std::nullopt, 0},
    {"PAPI_BR_MSP", std::nullopt, 0},
    {"PAPI_TLB_DM", std::nullopt, 0},
    kKernelCycles,
    kKernelInstructions,
    {"perf::CACHE-MISSES", RawEvent{RawEvent::kHardware, 3}},
    {"perf::BRANCH-MISSES", RawEvent{RawEvent::kHardware, 5}},
    {"perf::STALLED-CYCLES-BACKEND", RawEvent{RawEvent::kHardware, 8}},
    {"perf::L1-DCACHE-LOAD-MISSES", RawEvent{RawEvent::kHardwareCache, 0x10000}},
    {"perf::LLC-LOAD-MISSES", RawEvent{RawEvent::kHardwareCache, 0x10002}},
    {"perf::DTLB-LOAD-MISSES", RawEvent{RawEvent::kHardwareCache, 0x10003}},
};

constexpr Row kRows[] = {
    {.metric = Metric::kFlops, .formula = "PAPI_FP_OPS", .rule = kUnknownFlops, .caveat = kByPapi},
    {.metric = Metric::kFlops,
     .formula = "PAPI_SP_OPS + PAPI_DP_OPS",
     .rule = kUnknownFlops,
     .caveat = kByPapi},
    {.metric = Metric::kFlopsSingle,
     .formula = "PAPI_SP_OPS",
     .rule = kUnknownFlops,
     .caveat = kByPapi},
    {.metric = Metric::kFlopsDouble,
     .formula = "PAPI_DP_OPS",
     .rule = kUnknownFlops,
     .caveat = kByPapi},
    {.metric = Metric::kCycles, .formula = "PAPI_TOT_CYC", .rule = kRetired},
    {.metric = Metric::kCycles, .formula = "perf::CYCLES", .rule = kRetired},
    {.metric = Metric::kInstructions, .formula = "PAPI_TOT_INS", .rule = kRetired},
    {.metric = Metric::kInstructions, .formula = "perf::INSTRUCTIONS", .rule = kRetired},
    {.metric = Metric::kL1dMisses, .formula = "PAPI_L1_DCM", .rule = kUnknown, .caveat = kByPapi},
    {.metric = Metric::kL1dMisses,
     .formula = "perf::L1-DCACHE-LOAD-MISSES",
     .rule = kUnknown,
     .caveat = kLoads},
    {.metric = Metric::kL2Misses, .formula = "PAPI_L2_DCM", .rule = kUnknown, .caveat = kByPapi},
    {.metric = Metric::kL3Misses, .formula = "PAPI_L3_TCM", .rule = kUnknown, .caveat = kByPapi},
    {.metric = Metric::kL3Misses,
     .formula = "perf::LLC-LOAD-MISSES",
     .rule = kUnknown,
     .caveat = kLoads},
    {.metric = Metric::kL3Misses,
     .formula = "perf::CACHE-MISSES",
     .rule = kUnknown,
     .caveat = kByKernel},
    {.metric = Metric::kDramBytes,
     .absent_reason = "NOT_PER_THREAD: memory traffic is counted for a whole socket, over all "
                      "processes, and cannot be split by layer"},
    {.metric = Metric::kStallCycles,
     .formula = "PAPI_RES_STL",
     .rule = kUnknown,
     .caveat = kByPapi},
    {.metric = Metric::kStallCycles,
     .formula = "perf::STALLED-CYCLES-BACKEND",
     .rule = kUnknown,
     .caveat = kByKernel},
    {.metric = Metric::kBranchMisses,
     .formula = "PAPI_BR_MSP",
     .rule = kUnknown,
     .caveat = kByPapi},
    {.metric = Metric::kBranchMisses,
     .formula = "perf::BRANCH-MISSES",
     .rule = kUnknown,
     .caveat = kByKernel},
    {.metric = Metric::kDtlbMisses, .formula = "PAPI_TLB_DM", .rule = kUnknown, .caveat = kByPapi},
    {.metric = Metric::kDtlbMisses,
     .formula = "perf::DTLB-LOAD-MISSES",
     .rule = kUnknown,
     .caveat = kLoads},
};

}  // namespace

constexpr FamilyTable kGeneric = {kEvents, kRows};

}  // namespace tinyprof::catalogue
