// AMD family 19h, models 00h-0Fh and 20h-5Fh: 6 counters a thread.
#include "daemon/counters/catalogue/family_table.h"

namespace tinyprof::catalogue {
namespace {

constexpr CountingRule kFlops = {.flops = FlopRule{.per_fma = 2,
                                                   .lanes_in_event = true,
                                                   .masked_lanes = Answer::kUnknown,
                                                   .min_max = Answer::kUnknown}};
constexpr std::string_view kOnePrecisionReason =
    "NOT_COUNTED_BY_CPU: this CPU counts single- and double-precision operations in one event";

constexpr std::string_view kL1Misses =
    "REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:LS_RD_BLK_C_S:CHANGE_TO_X";
constexpr std::string_view kTableWalks =
    "L1_DTLB_MISS:TLB_RELOAD_1G_L2_MISS:TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_COALESCED_PAGE_MISS:"
    "TLB_RELOAD_4K_L2_MISS";
constexpr std::string_view kMemoryFills =
    "64*ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT";
constexpr std::string_view kMemoryLines =
    "64*ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT + "
    "64*L2_PREFETCH_MISS_L3:L2_HW_PREFETCHER";
constexpr std::string_view kPrefetchesFromBeyondL3 = "L2_PREFETCH_MISS_L3:L2_HW_PREFETCHER";
constexpr std::string_view kDispatchStalls1 =
    "DISPATCH_RESOURCE_STALL_CYCLES_1:INT_PHY_REG_FILE_RSRC_STALL:LOAD_QUEUE_RSRC_STALL:"
    "STORE_QUEUE_RSRC_STALL:TAKEN_BRANCH_BUFFER_RSRC_STALL:FP_REG_FILE_RSRC_STALL:"
    "FP_SCHEDULER_RSRC_STALL:FP_FLUSH_RECOVERY_STALL";
constexpr std::string_view kDispatchStalls2 =
    "DISPATCH_RESOURCE_STALL_CYCLES_2:INT_SCHEDULER_0_TOKEN_STALL:INT_SCHEDULER_1_TOKEN_STALL:"
    "INT_SCHEDULER_2_TOKEN_STALL:INT_SCHEDULER_3_TOKEN_STALL:RETIRE_TOKEN_STALL";
constexpr std::string_view kDispatchStalls =
    "DISPATCH_RESOURCE_STALL_CYCLES_1:INT_PHY_REG_FILE_RSRC_STALL:LOAD_QUEUE_RSRC_STALL:"
    "STORE_QUEUE_RSRC_STALL:TAKEN_BRANCH_BUFFER_RSRC_STALL:FP_REG_FILE_RSRC_STALL:"
    "FP_SCHEDULER_RSRC_STALL:FP_FLUSH_RECOVERY_STALL + "
    "DISPATCH_RESOURCE_STALL_CYCLES_2:INT_SCHEDULER_0_TOKEN_STALL:INT_SCHEDULER_1_TOKEN_STALL:"
    "INT_SCHEDULER_2_TOKEN_STALL:INT_SCHEDULER_3_TOKEN_STALL:RETIRE_TOKEN_STALL";

constexpr EventEntry kEvents[] = {
    {"RETIRED_SSE_AVX_FLOPS:ANY", Raw(0x0f03), 2},
    {"CYCLES_NOT_IN_HALT", Raw(0x0076)},
    {"RETIRED_INSTRUCTIONS", Raw(0x00c0)},
    {kL1Misses, Raw(0xe860)},
    {"CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C", Raw(0x0864)},
    {kTableWalks, Raw(0xf045)},
    {"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", Raw(0x00c3)},
    {kMemoryFills.substr(3), Raw(0x4844)},
    {kPrefetchesFromBeyondL3, Raw(0x1f72)},
    {kDispatchStalls1, Raw(0xf7ae)},
    {kDispatchStalls2, Raw(0x2faf)},
    {"PAPI_TOT_CYC", Raw(0x0076)},
    {"PAPI_TOT_INS", Raw(0x00c0)},
    kKernelCycles,
    kKernelInstructions,
};

constexpr Row kRows[] = {
    {.metric = Metric::kFlops,
     .rule = kFlops,
     .formula = "RETIRED_SSE_AVX_FLOPS:ANY",
     .caveat = "single and double precision together; each event holds two counters",
     .erratum = "AMD 1292"},
    {.metric = Metric::kFlopsSingle, .absent_reason = kOnePrecisionReason},
    {.metric = Metric::kFlopsDouble, .absent_reason = kOnePrecisionReason},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "CYCLES_NOT_IN_HALT"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "PAPI_TOT_CYC"},
    {.metric = Metric::kCycles, .rule = kRetired, .formula = "perf::CYCLES"},
    {.metric = Metric::kInstructions,
     .rule = kRetired,
     .formula = "RETIRED_INSTRUCTIONS",
     .erratum = "AMD 1292"},
    {.metric = Metric::kInstructions,
     .rule = kRetired,
     .formula = "PAPI_TOT_INS",
     .erratum = "AMD 1292"},
    {.metric = Metric::kInstructions,
     .rule = kRetired,
     .formula = "perf::INSTRUCTIONS",
     .erratum = "AMD 1292"},
    {.metric = Metric::kL1dMisses,
     .rule = kFills,
     .formula = kL1Misses,
     .caveat = "requests to make a line writable that the cache held are among them"},
    {.metric = Metric::kL2Misses,
     .rule = kDemandFills,
     .formula = "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C",
     .caveat = "the second level's own prefetcher is left out, the first level's is not"},
    {.metric = Metric::kL3Misses,
     .absent_reason =
         "NOT_PER_THREAD: this CPU counts third-level misses for a whole core complex, "
         "not for a thread"},
    {.metric = Metric::kDramBytes,
     .rule = kEstimatedTraffic,
     .formula = kMemoryLines,
     .caveat = "64 bytes for each line that memory supplied to the first level, or that the second "
               "level's prefetcher did not find in the third; lines written back are left out"},
    {.metric = Metric::kDramBytes,
     .rule = kEstimatedTraffic,
     .formula = kMemoryFills,
     .caveat = "64 bytes for each line that memory supplied to the first level; lines that the "
               "second level's prefetcher fetched and lines written back are left out"},
    {.metric = Metric::kStallCycles,
     .rule = kSpeculative,
     .formula = kDispatchStalls,
     .caveat = "cycles in which work could not be dispatched for want of registers, schedulers or "
               "queues; a cycle that wanted for one of each event counts twice"},
    {.metric = Metric::kBranchMisses,
     .rule = kRetired,
     .formula = "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED",
     .erratum = "AMD 1292"},
    {.metric = Metric::kDtlbMisses, .rule = kSpeculative, .formula = kTableWalks},
};

}  // namespace

constexpr FamilyTable kZen3 = {kEvents, kRows};

}  // namespace tinyprof::catalogue
