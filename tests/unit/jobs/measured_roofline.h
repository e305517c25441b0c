// A roofline as a machine can have it.
#pragma once

#include "tinyprof/v1/host.pb.h"

namespace tinyprof {

inline v1::Roofline MeasuredRoofline(double clock_hz) {
  v1::Roofline roofline;
  roofline.mutable_measure_time()->set_seconds(1'700'000'000);
  roofline.set_clock_hz(clock_hz);
  v1::PeakCeiling& peak = *roofline.add_isa();
  peak.set_name("avx2");
  peak.set_threads(1);
  peak.set_flops_per_cycle(32);
  peak.set_peak_flops_per_second(32 * clock_hz);
  return roofline;
}

// Adds a bandwidth of 10 GB/s, and a set that is read as fast.
inline void AddBandwidth(v1::Roofline& roofline, const char* level, int threads) {
  v1::BandwidthCeiling& bandwidth = *roofline.add_bandwidth();
  bandwidth.set_level(level);
  bandwidth.set_op("load");
  bandwidth.set_threads(threads);
  bandwidth.set_bytes_per_second(1e10);
  bandwidth.set_working_set_bytes(1 << 26);
  v1::StreamPoint& point = *roofline.add_streams();
  point.set_threads(threads);
  point.set_set_bytes(int64_t{1 << 20} << roofline.streams_size());
  point.set_bytes_per_second(1e10);
}

}  // namespace tinyprof
