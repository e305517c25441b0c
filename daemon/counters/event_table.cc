// Sources: the event lists of libpfm4 4.13 and, for the presets, PAPI 7.0.0 (which has none for
// spr, zen4 and Neoverse). Names are valid with both; an event that this host lacks is found by
// trying it.
#include "daemon/counters/event_catalogue.h"

namespace tinyprof {
namespace {

constexpr std::string_view kIntelFlopsNote =
    "counts min and max as one FLOP a lane and an FMA as two; masked lanes count";
constexpr std::string_view kAmdFlopsNote =
    "single and double precision together; each event takes two counters";
constexpr std::string_view kArmFlopsNote =
    "speculative: work on a mispredicted path counts; predicated-off lanes count";

// Intel before Sapphire Rapids: instructions by width, times the lanes of single and double
// precision.
constexpr std::string_view kSkylakeFlops =
    "FP_ARITH:SCALAR_SINGLE + FP_ARITH:SCALAR_DOUBLE + 4*FP_ARITH:128B_PACKED_SINGLE + "
    "2*FP_ARITH:128B_PACKED_DOUBLE + 8*FP_ARITH:256B_PACKED_SINGLE + "
    "4*FP_ARITH:256B_PACKED_DOUBLE + 16*FP_ARITH:512B_PACKED_SINGLE + "
    "8*FP_ARITH:512B_PACKED_DOUBLE";
// From Ice Lake on, events that join widths with the same number of operations save counters.
constexpr std::string_view kIceLakeFlops =
    "FP_ARITH_INST_RETIRED:SCALAR + 2*FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE + "
    "4*FP_ARITH_INST_RETIRED:4_FLOPS + 8*FP_ARITH_INST_RETIRED:8_FLOPS + "
    "16*FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE";
constexpr std::string_view kIceLakeFlopsByWidth =
    "FP_ARITH_INST_RETIRED:SCALAR_SINGLE + FP_ARITH_INST_RETIRED:SCALAR_DOUBLE + "
    "4*FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE + 2*FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE + "
    "8*FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE + 4*FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE + "
    "16*FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE + 8*FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE";
constexpr std::string_view kZenL1Misses =
    "REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:LS_RD_BLK_C_S:CHANGE_TO_X";
constexpr std::string_view kZenL2Misses = "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C";
constexpr std::string_view kZenL3Reason =
    "NOT_PER_THREAD: this CPU counts third-level misses for a whole core complex, not for a thread";
constexpr std::string_view kZenL2Note = "demand accesses only: the prefetcher's are left out";

constexpr EventRow kTable[] = {
    {"skx", Metric::kFlops, kSkylakeFlops, kIntelFlopsNote},
    {"skx", Metric::kL1dMisses, "L1D:REPLACEMENT", ""},
    {"skx", Metric::kL2Misses, "L2_LINES_IN:ALL", ""},
    {"skx", Metric::kL3Misses, "LONGEST_LAT_CACHE:MISS", "hardware prefetches may be left out"},
    {"clx", Metric::kFlops, kSkylakeFlops, kIntelFlopsNote},
    {"clx", Metric::kL1dMisses, "L1D:REPLACEMENT", ""},
    {"clx", Metric::kL2Misses, "L2_LINES_IN:ALL", ""},
    {"clx", Metric::kL3Misses, "LONGEST_LAT_CACHE:MISS", "hardware prefetches may be left out"},

    {"icx", Metric::kFlops, kIceLakeFlops, kIntelFlopsNote},
    {"icx", Metric::kFlops, kIceLakeFlopsByWidth, kIntelFlopsNote},
    {"icx", Metric::kL1dMisses, "L1D:REPLACEMENT", ""},
    {"icx", Metric::kL2Misses, "L2_LINES_IN:ALL", ""},
    {"icx", Metric::kL3Misses, "LONGEST_LAT_CACHE:MISS", "hardware prefetches may be left out"},

    {"spr", Metric::kFlops, kIceLakeFlops, kIntelFlopsNote},
    {"spr", Metric::kFlops, kIceLakeFlopsByWidth, kIntelFlopsNote},
    {"spr", Metric::kL1dMisses, "L1D:REPLACEMENT", ""},
    {"spr", Metric::kL2Misses, "L2_LINES_IN:ALL", ""},
    {"spr", Metric::kL3Misses, "LONGEST_LAT_CACHE:MISS", "hardware prefetches may be left out"},

    {"amd64_fam17h_zen2", Metric::kFlops, "RETIRED_SSE_AVX_FLOPS:ANY", kAmdFlopsNote},
    {"amd64_fam17h_zen2", Metric::kL1dMisses, kZenL1Misses, ""},
    {"amd64_fam17h_zen2", Metric::kL2Misses, kZenL2Misses, kZenL2Note},
    {"amd64_fam17h_zen2", Metric::kL3Misses, "", kZenL3Reason},
    {"amd64_fam19h_zen3", Metric::kFlops, "RETIRED_SSE_AVX_FLOPS:ANY", kAmdFlopsNote},
    {"amd64_fam19h_zen3", Metric::kL1dMisses, kZenL1Misses, ""},
    {"amd64_fam19h_zen3", Metric::kL2Misses, kZenL2Misses, kZenL2Note},
    {"amd64_fam19h_zen3", Metric::kL3Misses, "", kZenL3Reason},
    {"amd64_fam19h_zen4", Metric::kFlops, "RETIRED_SSE_AVX_FLOPS:ANY", kAmdFlopsNote},
    {"amd64_fam19h_zen4", Metric::kL1dMisses, kZenL1Misses, ""},
    {"amd64_fam19h_zen4", Metric::kL2Misses, kZenL2Misses, kZenL2Note},
    {"amd64_fam19h_zen4", Metric::kL3Misses, "", kZenL3Reason},

    {"arm_n1", Metric::kFlops, "",
     "NOT_COUNTED_BY_CPU: Neoverse N1 counts floating-point instructions but not operations"},
    {"arm_n1", Metric::kL1dMisses, "L1D_CACHE_REFILL", ""},
    {"arm_n1", Metric::kL2Misses, "L2D_CACHE_REFILL", ""},
    {"arm_n1", Metric::kL3Misses, "L3D_CACHE_REFILL", ""},
    {"arm_n1", Metric::kL3Misses, "LL_CACHE_MISS_RD", "reads only"},
    // Scalable operations are counted per 128 bits of vector: V1 has 256, N2 and V2 have 128.
    {"arm_v1", Metric::kFlops, "FP_FIXED_OPS_SPEC + 2*FP_SCALE_OPS_SPEC", kArmFlopsNote},
    {"arm_v1", Metric::kL1dMisses, "L1D_CACHE_REFILL", ""},
    {"arm_v1", Metric::kL2Misses, "L2D_CACHE_REFILL", ""},
    {"arm_v1", Metric::kL3Misses, "LL_CACHE_MISS_RD", "reads only"},
    {"arm_n2", Metric::kFlops, "FP_FIXED_OPS_SPEC + FP_SCALE_OPS_SPEC", kArmFlopsNote},
    {"arm_n2", Metric::kL1dMisses, "L1D_CACHE_REFILL", ""},
    {"arm_n2", Metric::kL2Misses, "L2D_CACHE_REFILL", ""},
    {"arm_n2", Metric::kL3Misses, "L3D_CACHE_REFILL", ""},
    {"arm_v2", Metric::kFlops, "FP_FIXED_OPS_SPEC + FP_SCALE_OPS_SPEC", kArmFlopsNote},
    {"arm_v2", Metric::kL1dMisses, "L1D_CACHE_REFILL", ""},
    {"arm_v2", Metric::kL2Misses, "L2D_CACHE_REFILL", ""},
    {"arm_v2", Metric::kL3Misses, "L3D_CACHE_REFILL", ""},
    {"arm_", Metric::kCycles, "CPU_CYCLES", ""},
    {"arm_", Metric::kInstructions, "INST_RETIRED", ""},

    {"amd64_", Metric::kCycles, "CYCLES_NOT_IN_HALT", ""},
    {"amd64_", Metric::kInstructions, "RETIRED_INSTRUCTIONS", ""},

    {"", Metric::kCycles, "PAPI_TOT_CYC", ""},
    {"", Metric::kCycles, "CPU_CLK_UNHALTED:THREAD_P", ""},
    {"", Metric::kCycles, "perf::CYCLES", ""},
    {"", Metric::kInstructions, "PAPI_TOT_INS", ""},
    {"", Metric::kInstructions, "INST_RETIRED:ANY_P", ""},
    {"", Metric::kInstructions, "perf::INSTRUCTIONS", ""},
    {"", Metric::kFlops, "PAPI_FP_OPS", "as PAPI defines it for this CPU"},
    {"", Metric::kFlops, "PAPI_SP_OPS + PAPI_DP_OPS", "as PAPI defines them for this CPU"},
    {"", Metric::kL1dMisses, "PAPI_L1_DCM", "as PAPI defines it for this CPU"},
    {"", Metric::kL1dMisses, "perf::L1-DCACHE-LOAD-MISSES", "loads only"},
    {"", Metric::kL2Misses, "PAPI_L2_DCM", "as PAPI defines it for this CPU"},
    {"", Metric::kL3Misses, "PAPI_L3_TCM", "as PAPI defines it for this CPU"},
    {"", Metric::kL3Misses, "perf::LLC-LOAD-MISSES", "loads only"},
    {"", Metric::kL3Misses, "perf::CACHE-MISSES", "as the kernel defines it for this CPU"},
    {"", Metric::kDramBytes, "",
     "NOT_PER_THREAD: memory traffic is counted for a whole socket, over all processes, and cannot "
     "be "
     "split by layer"},
};

}  // namespace

std::span<const EventRow> EventTable() { return kTable; }

}  // namespace tinyprof
