// What is printed of the machine and the daemon's checks of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/render/people.h"

namespace tinyprof::client {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RooflineText, SaysWhoseClockItIsAndWhatAMixedPeakIs) {
  v1::Roofline roofline;
  roofline.mutable_host()->set_cpu("Test CPU");
  roofline.set_clock_hz(3e9);
  v1::PeakCeiling& peak = *roofline.add_isa();
  peak.set_name("avx512");
  peak.set_dtype("float32");
  peak.set_threads(1);
  peak.set_flops_per_cycle(64);
  peak.set_peak_flops_per_second(160e9);
  EXPECT_THAT(RooflineText(roofline, {}), HasSubstr("core clock 3.00 GHz (integer code)\n"));
  EXPECT_THAT(RooflineText(roofline, {}),
              HasSubstr("\nFLOP/cycle is by the clock during that row's own loop, which load and "
                        "wide vectors change; it need not be the core clock above.\n"));
  EXPECT_THAT(RooflineText(roofline, {}), Not(HasSubstr("_fma_add")));
  roofline.mutable_isa(0)->set_name("avx2_fma_add");
  EXPECT_THAT(
      RooflineText(roofline, {}),
      HasSubstr("\navx2_fma_add mixes FMAs with adds; it is listed where that is faster than "
                "FMAs alone.\n"));
}

TEST(Doctor, WhatWasNotTriedIsNotOk) {
  v1::DiagnoseResponse response;
  v1::Check& check = *response.add_checks();
  check.set_name("events of the CPU");
  check.set_state(v1::CHECK_STATE_SKIP);
  check.set_found("not tried");
  EXPECT_EQ(DoctorText(response, {}), "skip  events of the CPU  not tried\n");
}

TEST(Doctor, PrintsTheFix) {
  v1::DiagnoseResponse response;
  v1::Check& check = *response.add_checks();
  check.set_name("paranoid\x1b");
  check.set_state(v1::CHECK_STATE_WARN);
  check.set_found("level 4");
  check.set_why("no event may be opened");
  check.set_fix("sudo sysctl kernel.perf_event_paranoid=2");
  EXPECT_EQ(DoctorText(response, {}),
            "warn  paranoid\\x1b  level 4\n"
            "      why: no event may be opened\n"
            "      fix: sudo sysctl kernel.perf_event_paranoid=2\n");
}

}  // namespace
}  // namespace tinyprof::client
