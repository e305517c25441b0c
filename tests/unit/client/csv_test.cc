// CSV of a run against hand-written text.
#include "client/render/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/client/fixture.h"

namespace tinyprof::client {
namespace {

using testing::HasSubstr;

TEST(RunCsv, HasALineALayerAndATotal) {
  const std::string counts = "24,24,54,48,0,60,32,24,116,0.5,,";
  EXPECT_EQ(
      RunCsv(SucceededRun()),
      "index,name,op,path,input_shapes,output_shapes,parameter_count,mac_count,"
      "valid_tap_mac_count,flop_count,flop_count_2mac,int_op_count,weight_bytes,input_bytes,"
      "output_bytes,compulsory_bytes,arithmetic_intensity,cost_reason,median_ns,mad_ns,min_ns,"
      "ci_low_ns,ci_high_ns,n,flops_per_second,bound_flops_per_second,percent_of_bound,limiter,"
      "label,activation_bytes,scratch_bytes,flops,cycles,instructions,l1d_misses,l2_misses,"
      "l3_misses,dram_bytes,counters_source,counters_reason,flops_single,flops_double,stall_cycles,"
      "branch_misses,dtlb_misses,dram_bytes_source,dram_bytes_note,packed_weight_bytes,backend,"
      "implementation,p90_ns,p95_ns,p99_ns,outliers,first_pass_ns,fused\n"
      "0,fc,Gemm,0,\"2x4, 4x3\",2x3,15," +
          counts +
          "3000,10,3000,2250,3750,150,18000000,36000000,50,DRAM,memory,56,0,,,,,,,,papi,"
          "NO_PMU: no PMU here,,,,,,papi,,32,eigen,gemm,3000,3000,3000,2,9000,\n"
          "1,\"odd \"\"one\"\",\n\",Mystery,1,2x3,2x3,0,,,,,,,,,,,"
          "NO_COST_RULE: no rule gives the cost of the operator Mystery,"
          "1000,10,1000,750,1250,150,,,,,,48,0,,,,,,,,papi,NO_PMU: no PMU "
          "here,,,,,,papi,,0,,,1000,1000,1000,2,9000,\n"
          ",total,,,2x4,2x3,15," +
          counts +
          "4000,10,4000,3000,5000,150,13500000,36000000,50,DRAM,memory,56,0,,,,,,,,papi,"
          "NO_PMU: no PMU here,,,,,,papi,,0,eigen,,4000,4000,4000,2,9000,\n");
}

TEST(RunCsv, TellsTheTotalsTrafficFromTheLayers) {
  const std::string csv = RunCsv(RunWithTraffic("", "whole socket, all"));
  EXPECT_THAT(csv, testing::EndsWith(
                       ",perf_event,\"whole socket, all\",0,eigen,,4000,4000,4000,2,9000,\n"));
  EXPECT_THAT(csv, HasSubstr(",papi,,0,,,1000,1000,1000,2,9000,\n"));
}

TEST(RunCsv, SaysOfEachMetricWhyItIsAbsentOrSuspect) {
  v1::Run run = SucceededRun();
  v1::Counters& counters = *run.mutable_report()->mutable_counters();
  counters.mutable_flops()->set_value(54);
  counters.mutable_flops()->clear_reason();
  counters.mutable_cycles()->set_value(100);
  counters.mutable_cycles()->set_quality(v1::QUALITY_SUSPECT);
  counters.mutable_cycles()->set_reason("NOT_CALIBRATED: by nothing");
  counters.mutable_l3_misses()->set_reason("NO_EVENT: none");
  EXPECT_THAT(RunCsv(run), HasSubstr("cycles suspect: NOT_CALIBRATED: by nothing; instructions"));
  EXPECT_THAT(RunCsv(run), HasSubstr("; l3_misses: NO_EVENT: none"));
}

}  // namespace
}  // namespace tinyprof::client
