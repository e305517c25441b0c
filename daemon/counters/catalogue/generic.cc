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
    {.metric = Metric::kFlops, .rule = kUnknownFlops, .formula = "PAPI_FP_OPS", .caveat = kByPapi},
    {.metric = Metric::kFlops,
     .rule = kUnknownFlops,
     .formula = "PAPI_SP_OPS + PAPI_DP_OPS",
     .caveat = kByPapi},
    {.metric = Metric::kFlopsSingle,
     .rule = kUnknownFlops,
     .formula = "PAPI_SP_OPS",
     .caveat = kByPapi},
    {.metric = Metric::kFlopsDouble,
     .rule = kUnknownFlops,
     .formula = "PAPI_DP_OPS",
     .caveat = kByPapi},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "PAPI_TOT_CYC"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "perf::CYCLES"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "PAPI_TOT_INS"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "perf::INSTRUCTIONS"},
    {.metric = Metric::kL1dMisses, .rule = kUnknown, .formula = "PAPI_L1_DCM", .caveat = kByPapi},
    {.metric = Metric::kL1dMisses,
     .rule = kUnknown,
     .formula = "perf::L1-DCACHE-LOAD-MISSES",
     .caveat = kLoads},
    {.metric = Metric::kL2Misses, .rule = kUnknown, .formula = "PAPI_L2_DCM", .caveat = kByPapi},
    {.metric = Metric::kL3Misses, .rule = kUnknown, .formula = "PAPI_L3_TCM", .caveat = kByPapi},
    {.metric = Metric::kL3Misses,
     .rule = kUnknown,
     .formula = "perf::LLC-LOAD-MISSES",
     .caveat = kLoads},
    {.metric = Metric::kL3Misses,
     .rule = kUnknown,
     .formula = "perf::CACHE-MISSES",
     .caveat = kByKernel},
    {.metric = Metric::kDramBytes,
     .absent_reason = "NOT_PER_THREAD: memory traffic is counted for a whole socket, over all "
                      "processes, and cannot be split by layer"},
    {.metric = Metric::kStallCycles,
     .rule = kUnknown,
     .formula = "PAPI_RES_STL",
     .caveat = kByPapi},
    {.metric = Metric::kStallCycles,
     .rule = kUnknown,
     .formula = "perf::STALLED-CYCLES-BACKEND",
     .caveat = kByKernel},
    {.metric = Metric::kBranchMisses,
     .rule = kUnknown,
     .formula = "PAPI_BR_MSP",
     .caveat = kByPapi},
    {.metric = Metric::kBranchMisses,
     .rule = kUnknown,
     .formula = "perf::BRANCH-MISSES",
     .caveat = kByKernel},
    {.metric = Metric::kDtlbMisses, .rule = kUnknown, .formula = "PAPI_TLB_DM", .caveat = kByPapi},
    {.metric = Metric::kDtlbMisses,
     .rule = kUnknown,
     .formula = "perf::DTLB-LOAD-MISSES",
     .caveat = kLoads},
};

}  // namespace

constexpr FamilyTable kGeneric = {kEvents, kRows};

}  // namespace tinyprof::catalogue
