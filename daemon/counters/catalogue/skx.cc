// Skylake, Cascade Lake and Cooper Lake servers. Without SMT a thread has 8 counters, with it 4.
#include "daemon/counters/catalogue/family_table.h"

namespace tinyprof::catalogue {
namespace {

// Each count is an instruction, two for a fused multiply-add, whatever its mask.
constexpr CountingRule kFlops = {.flops = FlopRule{.per_fma = 2,
                                                   .lanes_in_event = false,
                                                   .masked_lanes = Answer::kYes,
                                                   .min_max = Answer::kYes}};
constexpr std::string_view kFlopsCaveat =
    "microcode against TSX bugs may hold the fourth counter and spoil what is counted there; "
    "denormals are counted right only with DAZ and FTZ set";

constexpr std::string_view kSingle =
    "FP_ARITH:SCALAR_SINGLE + "
    "4*FP_ARITH:128B_PACKED_SINGLE + "
    "8*FP_ARITH:256B_PACKED_SINGLE + "
    "16*FP_ARITH:512B_PACKED_SINGLE";
constexpr std::string_view kDouble =
    "FP_ARITH:SCALAR_DOUBLE + "
    "2*FP_ARITH:128B_PACKED_DOUBLE + "
    "4*FP_ARITH:256B_PACKED_DOUBLE + "
    "8*FP_ARITH:512B_PACKED_DOUBLE";
constexpr std::string_view kBoth =
    "FP_ARITH:SCALAR_SINGLE + "
    "FP_ARITH:SCALAR_DOUBLE + "
    "4*FP_ARITH:128B_PACKED_SINGLE + "
    "2*FP_ARITH:128B_PACKED_DOUBLE + "
    "8*FP_ARITH:256B_PACKED_SINGLE + "
    "4*FP_ARITH:256B_PACKED_DOUBLE + "
    "16*FP_ARITH:512B_PACKED_SINGLE + "
    "8*FP_ARITH:512B_PACKED_DOUBLE";
// libpfm4 4.13 encodes L3_MISS as local memory only, so both memories are named. The snoop answers
// are those with which Intel tells memory from caches on the CPUs that followed.
constexpr std::string_view kReads =
    "64*OFFCORE_RESPONSE_0:ANY_DATA:L3_MISS_LOCAL:L3_MISS_REMOTE_HOP1_DRAM:SNP_NOT_NEEDED:SNP_MISS:"
    "SNP_HIT_NO_FWD";
constexpr std::string_view kReadsOfAnySnoop =
    "64*OFFCORE_RESPONSE_0:ANY_DATA:L3_MISS_LOCAL:L3_MISS_REMOTE_HOP1_DRAM:SNP_ANY";

constexpr EventEntry kEvents[] = {
    {"FP_ARITH:SCALAR_SINGLE", Raw(0x02c7)},
    {"FP_ARITH:SCALAR_DOUBLE", Raw(0x01c7)},
    {"FP_ARITH:128B_PACKED_SINGLE", Raw(0x08c7)},
    {"FP_ARITH:128B_PACKED_DOUBLE", Raw(0x04c7)},
    {"FP_ARITH:256B_PACKED_SINGLE", Raw(0x20c7)},
    {"FP_ARITH:256B_PACKED_DOUBLE", Raw(0x10c7)},
    {"FP_ARITH:512B_PACKED_SINGLE", Raw(0x80c7)},
    {"FP_ARITH:512B_PACKED_DOUBLE", Raw(0x40c7)},
    {"CPU_CLK_THREAD_UNHALTED:THREAD_P", Raw(0x003c)},
    {"INST_RETIRED:ANY_P", Raw(0x00c0)},
    {"L1D:REPLACEMENT", Raw(0x0151)},
    {"L2_LINES_IN:ALL", Raw(0x1ff1)},
    {"LONGEST_LAT_CACHE:MISS", Raw(0x412e)},
    {"CYCLE_ACTIVITY:STALLS_TOTAL", Raw(0x040004a3)},
    {"BR_MISP_RETIRED:ALL_BRANCHES", Raw(0x00c5)},
    {"DTLB_LOAD_MISSES:WALK_COMPLETED", Raw(0x0e08)},
    {"DTLB_STORE_MISSES:WALK_COMPLETED", Raw(0x0e49)},
    {kReads.substr(3), Raw(0x01b7, 0x7140005b3)},
    {kReadsOfAnySnoop.substr(3), Raw(0x01b7, 0x3f940005b3)},
    {"PAPI_TOT_CYC", Raw(0x003c)},
    {"PAPI_TOT_INS", Raw(0x00c0)},
    kKernelCycles,
    kKernelInstructions,
};

constexpr Row kRows[] = {
    {.metric = Metric::kFlops, .rule = kFlops, .formula = kBoth, .caveat = kFlopsCaveat},
    {.metric = Metric::kFlopsSingle, .rule = kFlops, .formula = kSingle, .caveat = kFlopsCaveat},
    {.metric = Metric::kFlopsDouble, .rule = kFlops, .formula = kDouble, .caveat = kFlopsCaveat},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "PAPI_TOT_CYC"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "CPU_CLK_THREAD_UNHALTED:THREAD_P"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "perf::CYCLES"},
    {.metric = Metric::kInstructions,
     .rule = kRetired,
     .formula = "PAPI_TOT_INS",
     .erratum = "SKL044, SKL091"},
    {.metric = Metric::kInstructions,
     .rule = kRetired,
     .formula = "INST_RETIRED:ANY_P",
     .erratum = "SKL044, SKL091"},
    {.metric = Metric::kInstructions, .rule = kRetired, .formula = "perf::INSTRUCTIONS"},
    {.metric = Metric::kL1dMisses, .rule = kFills, .formula = "L1D:REPLACEMENT"},
    {.metric = Metric::kL2Misses, .rule = kFills, .formula = "L2_LINES_IN:ALL"},
    {.metric = Metric::kL3Misses,
     .rule = kDemandFills,
     .formula = "LONGEST_LAT_CACHE:MISS",
     .erratum = "SKL057"},
    {.metric = Metric::kDramBytes,
     .rule = kEstimatedTraffic,
     .formula = kReads,
     .caveat = "64 bytes for each line that memory supplied to the core; lines written back are "
               "left out"},
    {.metric = Metric::kDramBytes,
     .rule = kEstimatedTraffic,
     .formula = kReadsOfAnySnoop,
     .caveat = "64 bytes for each line that missed the third level, lines from another socket's "
               "cache among them; lines written back are left out"},
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

constexpr FamilyTable kSkx = {kEvents, kRows};

}  // namespace tinyprof::catalogue
