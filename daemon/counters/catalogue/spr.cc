// Sapphire, Emerald and Granite Rapids: 8 counters a thread; the cache, TLB and off-core events fit
// the first 4 only. PAPI has presets for them from 7.1.0 on.
#include "daemon/counters/catalogue/family_table.h"

namespace tinyprof::catalogue {
namespace {

// Each count is an instruction, two for a fused multiply-add, whatever its mask.
constexpr CountingRule kFlops = {.flops = FlopRule{.per_fma = 2,
                                                   .lanes_in_event = false,
                                                   .masked_lanes = Answer::kYes,
                                                   .min_max = Answer::kYes}};
constexpr std::string_view kFlopsCaveat =
    "half precision and AMX tiles are left out; denormals are counted right only with DAZ and FTZ "
    "set";

constexpr std::string_view kSingle =
    "FP_ARITH_INST_RETIRED:SCALAR_SINGLE + "
    "4*FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE + "
    "8*FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE + "
    "16*FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE";
constexpr std::string_view kDouble =
    "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE + "
    "2*FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE + "
    "4*FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE + "
    "8*FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE";
constexpr std::string_view kByWidth =
    "FP_ARITH_INST_RETIRED:SCALAR_SINGLE + "
    "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE + "
    "4*FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE + "
    "2*FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE + "
    "8*FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE + "
    "4*FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE + "
    "16*FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE + "
    "8*FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE";
// Events that join widths with as many operations save counters.
constexpr std::string_view kJoined =
    "FP_ARITH_INST_RETIRED:SCALAR + 2*FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE + "
    "4*FP_ARITH_INST_RETIRED:4_FLOPS + 8*FP_ARITH_INST_RETIRED:8_FLOPS + "
    "16*FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE";

constexpr EventEntry kEvents[] = {
    {"FP_ARITH_INST_RETIRED:SCALAR", Raw(0x03c7)},
    {"FP_ARITH_INST_RETIRED:4_FLOPS", Raw(0x18c7)},
    {"FP_ARITH_INST_RETIRED:8_FLOPS", Raw(0x60c7)},
    {"FP_ARITH_INST_RETIRED:SCALAR_SINGLE", Raw(0x02c7)},
    {"FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", Raw(0x01c7)},
    {"FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", Raw(0x08c7)},
    {"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", Raw(0x04c7)},
    {"FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", Raw(0x20c7)},
    {"FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", Raw(0x10c7)},
    {"FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", Raw(0x80c7)},
    {"FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE", Raw(0x40c7)},
    {"CPU_CLK_UNHALTED:THREAD_P", Raw(0x003c)},
    {"INST_RETIRED:ANY_P", Raw(0x00c0)},
    {"L1D:REPLACEMENT", Raw(0x0151)},
    {"L2_LINES_IN:ALL", Raw(0x1f25)},
    {"LONGEST_LAT_CACHE:MISS", Raw(0x412e)},
    {"CYCLE_ACTIVITY:STALLS_TOTAL", Raw(0x040004a3)},
    {"BR_MISP_RETIRED:ALL_BRANCHES", Raw(0x00c5)},
    {"DTLB_LOAD_MISSES:WALK_COMPLETED", Raw(0x0e12)},
    {"DTLB_STORE_MISSES:WALK_COMPLETED", Raw(0x0e13)},
    {"OCR:READS_TO_CORE_DRAM", Raw(0x012a, 0x73c004477)},
    {"OCR:WRITE_ESTIMATE_MEMORY", Raw(0x012a, 0xfbff80822)},
    {"PAPI_TOT_CYC", Raw(0x003c)},
    {"PAPI_TOT_INS", Raw(0x00c0)},
    kKernelCycles,
    kKernelInstructions,
};

constexpr Row kRows[] = {
    {.metric = Metric::kFlops, .rule = kFlops, .formula = kJoined, .caveat = kFlopsCaveat},
    {.metric = Metric::kFlops, .rule = kFlops, .formula = kByWidth, .caveat = kFlopsCaveat},
    {.metric = Metric::kFlopsSingle, .rule = kFlops, .formula = kSingle, .caveat = kFlopsCaveat},
    {.metric = Metric::kFlopsDouble, .rule = kFlops, .formula = kDouble, .caveat = kFlopsCaveat},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "CPU_CLK_UNHALTED:THREAD_P"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "PAPI_TOT_CYC"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "perf::CYCLES"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "INST_RETIRED:ANY_P"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "PAPI_TOT_INS"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "perf::INSTRUCTIONS"},
    {.metric = Metric::kL1dMisses, .rule = kFills, .formula = "L1D:REPLACEMENT"},
    {.metric = Metric::kL2Misses, .rule = kFills, .formula = "L2_LINES_IN:ALL"},
    {.metric = Metric::kL3Misses, .rule = kDemandFills, .formula = "LONGEST_LAT_CACHE:MISS"},
    {.metric = Metric::kDramBytes,
     .rule = kEstimatedTraffic,
     .formula = "64*OCR:READS_TO_CORE_DRAM + 64*OCR:WRITE_ESTIMATE_MEMORY",
     .caveat = "64 bytes for each line that memory supplied to the core, and for each that was "
               "taken to be written and so likely returns to memory; prefetches into the third "
               "level alone are left out"},
    {.metric = Metric::kDramBytes,
     .rule = kEstimatedTraffic,
     .formula = "64*OCR:READS_TO_CORE_DRAM",
     .caveat = "64 bytes for each line that memory supplied to the core; lines written back and "
               "prefetches into the third level alone are left out"},
    {.metric = Metric::kStallCycles,
     .rule = kSpeculative,
     .formula = "CYCLE_ACTIVITY:STALLS_TOTAL",
     .caveat = "cycles in which nothing was executed"},
    {.metric = Metric::kBranchMisses, .rule = kRetired, .formula = "BR_MISP_RETIRED:ALL_BRANCHES"},
    {.metric = Metric::kDtlbMisses,
     .rule = kSpeculative,
     .formula = "DTLB_LOAD_MISSES:WALK_COMPLETED + DTLB_STORE_MISSES:WALK_COMPLETED"},
};

}  // namespace

constexpr FamilyTable kSpr = {kEvents, kRows};

}  // namespace tinyprof::catalogue
