#include "daemon/jobs/sound_roofline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/unit/jobs/measured_roofline.h"

namespace tinyprof {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

v1::Roofline Sound() {
  v1::Roofline roofline = MeasuredRoofline(3e9);
  AddBandwidth(roofline, "DRAM", 1);
  return roofline;
}

TEST(SoundRoofline, AMeasuredOneIsSound) {
  EXPECT_TRUE(IsSound(Sound()));
  EXPECT_TRUE(IsSound(MeasuredRoofline(3e9))) << "too little memory for bandwidths";
  v1::Roofline two_cores = Sound();
  two_cores.set_ping_pong_ns(120);
  EXPECT_TRUE(IsSound(two_cores));
}

TEST(SoundRoofline, NoNumberOfItCanBeNonsense) {
  EXPECT_FALSE(IsSound(v1::Roofline()));
  const std::vector<std::function<void(v1::Roofline&, double)>> setters = {
      [](v1::Roofline& it, double value) { it.set_clock_hz(value); },
      [](v1::Roofline& it, double value) { it.set_ping_pong_ns(value); },
      [](v1::Roofline& it, double value) { it.mutable_isa(0)->set_flops_per_cycle(value); },
      [](v1::Roofline& it, double value) { it.mutable_isa(0)->set_peak_flops_per_second(value); },
      [](v1::Roofline& it, double value) { it.mutable_bandwidth(0)->set_bytes_per_second(value); },
      [](v1::Roofline& it, double value) { it.mutable_streams(0)->set_bytes_per_second(value); }};
  for (size_t i = 0; i < setters.size(); ++i) {
    for (const double value : {kNan, kInfinity, -kInfinity, -5.0, 1e300}) {
      v1::Roofline roofline = Sound();
      setters[i](roofline, value);
      EXPECT_FALSE(IsSound(roofline)) << i << ": " << value;
    }
  }
}

TEST(SoundRoofline, CountsAndTimesAreInRange) {
  const std::vector<std::function<void(v1::Roofline&)>> damages = {
      [](v1::Roofline& it) { it.clear_measure_time(); },
      [](v1::Roofline& it) { it.mutable_measure_time()->set_seconds(900'000'000'000'000); },
      [](v1::Roofline& it) { it.mutable_measure_time()->set_nanos(-1); },
      [](v1::Roofline& it) { it.clear_isa(); },
      [](v1::Roofline& it) { it.mutable_isa(0)->set_threads(0); },
      [](v1::Roofline& it) { it.mutable_isa(0)->clear_name(); },
      [](v1::Roofline& it) { it.mutable_bandwidth(0)->set_threads(-1); },
      [](v1::Roofline& it) { it.mutable_bandwidth(0)->set_working_set_bytes(-9); },
      [](v1::Roofline& it) { it.mutable_streams(0)->set_threads(0); },
      [](v1::Roofline& it) { it.mutable_streams(0)->set_set_bytes(-9); },
      [](v1::Roofline& it) { *it.add_streams() = it.streams(0); },
      [](v1::Roofline& it) {  // not in order, with another number of threads in between
        AddBandwidth(it, "DRAM", 2);
        *it.add_streams() = it.streams(0);
      },
      [](v1::Roofline& it) { it.clear_bandwidth(); },
      [](v1::Roofline& it) { AddBandwidth(it, "DRAM", 2), it.mutable_streams()->RemoveLast(); },
      [](v1::Roofline& it) { it.mutable_streams(0)->set_bytes_per_second(1); }};
  for (size_t i = 0; i < damages.size(); ++i) {
    v1::Roofline roofline = Sound();
    damages[i](roofline);
    EXPECT_FALSE(IsSound(roofline)) << i;
  }
}

}  // namespace
}  // namespace tinyprof
