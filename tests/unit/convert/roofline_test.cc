#include "daemon/convert/roofline.h"

#include <gtest/gtest.h>

namespace tinyprof {
namespace {

using std::chrono::seconds;
using std::chrono::system_clock;

Roofline TestRoofline() {
  Roofline roofline;
  roofline.fingerprint = "0123456789abcdef";
  roofline.measured = system_clock::time_point(seconds(1'700'000'000));
  roofline.clock_hz = 3e9;
  roofline.isa = {{.name = "avx2",
                   .dtype = DType::kFloat64,
                   .threads = 2,
                   .flops_per_cycle = 32,
                   .peak_flops_per_second = 96e9}};
  for (const MemoryOp op : {MemoryOp::kLoad, MemoryOp::kCopy, MemoryOp::kTriad,
                            MemoryOp::kCopyNonTemporal, MemoryOp::kTriadNonTemporal}) {
    roofline.bandwidth.push_back({.level = MemoryLevel::kL2,
                                  .op = op,
                                  .threads = 2,
                                  .bytes_per_second = 1e9 * (1 + static_cast<int>(op)),
                                  .working_set_bytes = 1 << 20});
  }
  roofline.streams = {{2, 65536, 90e9}, {2, 1 << 20, 20e9}};
  roofline.host.caches = {{.level = 2, .byte_size = 1 << 21, .cpus = {0, 1}}};
  roofline.ping_pong_ns = 55;
  roofline.warnings = {"a sentence"};
  return roofline;
}

TEST(RooflineConvertTest, NamesAreThoseOfTheContract) {
  const v1::Roofline message = ToProto(TestRoofline());
  EXPECT_EQ(message.host().fingerprint(), "0123456789abcdef");
  EXPECT_EQ(message.measure_time().seconds(), 1'700'000'000);
  EXPECT_EQ(message.isa(0).name(), "avx2");
  EXPECT_EQ(message.isa(0).dtype(), "float64");
  EXPECT_EQ(message.bandwidth(3).level(), "L2");
  EXPECT_EQ(message.bandwidth(3).op(), "copy_nt");
  EXPECT_EQ(message.ping_pong_ns(), 55);
  EXPECT_EQ(message.warnings(0), "a sentence");
}

TEST(RooflineConvertTest, CeilingsSurviveTheRoundTrip) {
  const Roofline before = TestRoofline();
  const Roofline after = FromProto(ToProto(before));
  EXPECT_EQ(after.fingerprint, before.fingerprint);
  EXPECT_EQ(after.measured, before.measured);
  EXPECT_EQ(after.clock_hz, before.clock_hz);
  ASSERT_EQ(after.isa.size(), 1u);
  EXPECT_EQ(after.isa[0].name, "avx2");
  EXPECT_EQ(after.isa[0].dtype, DType::kFloat64);
  EXPECT_EQ(after.isa[0].threads, 2);
  EXPECT_EQ(after.isa[0].flops_per_cycle, 32);
  EXPECT_EQ(after.isa[0].peak_flops_per_second, 96e9);
  ASSERT_EQ(after.bandwidth.size(), before.bandwidth.size());
  for (size_t i = 0; i < after.bandwidth.size(); ++i) {
    EXPECT_EQ(after.bandwidth[i].level, before.bandwidth[i].level);
    EXPECT_EQ(after.bandwidth[i].op, before.bandwidth[i].op);
    EXPECT_EQ(after.bandwidth[i].bytes_per_second, before.bandwidth[i].bytes_per_second);
    EXPECT_EQ(after.bandwidth[i].working_set_bytes, 1 << 20);
  }
  ASSERT_EQ(after.streams.size(), 2u);
  EXPECT_EQ(after.streams[1].threads, 2);
  EXPECT_EQ(after.streams[1].set_bytes, 1 << 20);
  EXPECT_EQ(after.streams[1].bytes_per_second, 20e9);
  ASSERT_EQ(after.host.caches.size(), 1u);
  EXPECT_EQ(after.host.caches[0].byte_size, 1 << 21);
  EXPECT_EQ(after.host.caches[0].cpus.size(), 2u);
  EXPECT_EQ(after.ping_pong_ns, 55);
}

TEST(RooflineConvertTest, LeavesOutWhatItDoesNotKnow) {
  v1::Roofline message = ToProto(TestRoofline());
  message.mutable_isa(0)->set_dtype("float8");
  message.mutable_bandwidth(0)->set_level("L9");
  message.mutable_bandwidth(1)->set_op("dance");
  message.mutable_host()->mutable_caches(0)->set_shared_by_cpus(-3);
  message.clear_ping_pong_ns();
  const Roofline roofline = FromProto(message);
  EXPECT_TRUE(roofline.isa.empty());
  EXPECT_EQ(roofline.bandwidth.size(), 3u);
  EXPECT_TRUE(roofline.host.caches[0].cpus.empty());
  EXPECT_FALSE(roofline.ping_pong_ns.has_value());
}

}  // namespace
}  // namespace tinyprof
