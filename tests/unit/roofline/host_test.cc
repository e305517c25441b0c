#include "daemon/roofline/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace tinyprof {
namespace {

std::filesystem::path Fixture(const char* name) {
  return std::filesystem::path(TINYPROF_HOST_FIXTURES) / name;
}

TEST(ReadHostInfo, IntelGuest) {
  const HostInfo host = ReadHostInfo(Fixture("intel_spr_guest"));
  EXPECT_EQ(host.cpu, "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz");
  EXPECT_EQ(host.vendor, "GenuineIntel");
  EXPECT_EQ(host.family_model_stepping, "6-143-8");
  EXPECT_EQ(host.microcode, "0xffffffff");
  EXPECT_EQ(host.kernel, "6.1.0-28-cloud-amd64");
  EXPECT_EQ(host.hostname, "lab-7");
  EXPECT_EQ(host.smt, "on");
  EXPECT_EQ(host.virtualized, true);
  EXPECT_EQ(host.memory_bytes, int64_t{16373952} * 1024);
  EXPECT_EQ(host.cpu_count, 4);
  ASSERT_EQ(host.caches.size(), 3u);
  EXPECT_EQ(host.caches[0], (Cache{1, 48 * 1024, 64, {0, 1}}));
  EXPECT_EQ(host.caches[2].byte_size, 105 * 1024 * 1024);
  EXPECT_FALSE(host.governor.has_value());
  ASSERT_EQ(host.unknown.size(), 1u);
  EXPECT_THAT(host.unknown.at("governor"), testing::HasSubstr("virtual machine"));
}

TEST(ReadHostInfo, AmdMetal) {
  const HostInfo host = ReadHostInfo(Fixture("amd_zen4_metal"));
  EXPECT_EQ(host.cpu, "AMD EPYC 9124 16-Core Processor");
  EXPECT_EQ(host.family_model_stepping, "25-17-1");
  EXPECT_EQ(host.governor, "performance");
  EXPECT_EQ(host.smt, "off");
  EXPECT_EQ(host.virtualized, false);
  EXPECT_EQ(host.cpu_count, 16);
  EXPECT_TRUE(host.unknown.empty());
}

// A machine whose CPUs have different governors.
class TwoGovernors : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tinyprof_host_XXXXXX").string();
    root_ = mkdtemp(name.data());
    Write(0, "performance");
    Write(1, "powersave");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(int cpu, const char* governor) const {
    const auto folder =
        root_ / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cpufreq";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "scaling_governor") << governor << "\n";
  }
  std::filesystem::path root_;
};

TEST_F(TwoGovernors, TheGovernorIsThatOfTheCpusThatMeasure) {
  EXPECT_EQ(ReadHostInfo(root_, {0}).governor, "performance");
  EXPECT_EQ(ReadHostInfo(root_, {1}).governor, "powersave");
  EXPECT_EQ(ReadHostInfo(root_, {0, 1}).governor, "performance, powersave");
}

TEST(ReadHostInfo, ArmGuest) {
  const HostInfo host = ReadHostInfo(Fixture("arm_v1_guest"));
  EXPECT_EQ(host.cpu, "Neoverse-V1");
  EXPECT_EQ(host.vendor, "Arm");
  EXPECT_EQ(host.family_model_stepping, "8-0xd40-r1p1");
  EXPECT_EQ(host.virtualized, true);
  EXPECT_EQ(host.cpu_count, 2);
  EXPECT_TRUE(host.caches.empty());
  for (const char* field : {"microcode", "governor", "smt", "caches"}) {
    EXPECT_EQ(host.unknown.count(field), 1u) << field;
  }
  EXPECT_EQ(host.unknown.size(), 4u);
}

TEST(ReadHostInfo, NothingReadableExplainsEveryField) {
  const HostInfo host = ReadHostInfo("/nonexistent");
  EXPECT_EQ(host.unknown.size(), 12u);  // 11 fields and the caches
  for (const auto& [field, reason] : host.unknown) EXPECT_FALSE(reason.empty()) << field;
}

TEST(ReadHostInfo, ThisMachine) {
  const HostInfo host = ReadHostInfo("/");
  EXPECT_TRUE(host.kernel.has_value());
  ASSERT_TRUE(host.memory_bytes.has_value());
  EXPECT_GT(*host.memory_bytes, 0);
  ASSERT_TRUE(host.cpu_count.has_value());
  EXPECT_GE(*host.cpu_count, 1);
}

TEST(Fingerprint, IsStable) {
  // FNV-1a of the canonical text of a host with no field known, by a separate program.
  EXPECT_EQ(Fingerprint(HostInfo{}), "3a2f3d9b438b000f");
}

TEST(Fingerprint, EveryFieldButTheHostNameCounts) {
  const HostInfo base = ReadHostInfo(Fixture("amd_zen4_metal"));
  std::set<std::string> seen = {Fingerprint(base)};
  const auto changed = [&](auto change) {
    HostInfo host = base;
    change(host);
    EXPECT_TRUE(seen.insert(Fingerprint(host)).second);
  };
  changed([](HostInfo& h) { h.cpu = "other"; });
  changed([](HostInfo& h) { h.vendor = "other"; });
  changed([](HostInfo& h) { h.family_model_stepping = "25-17-2"; });
  changed([](HostInfo& h) { h.microcode = "0xa101149"; });
  changed([](HostInfo& h) { h.microcode.reset(); });
  changed([](HostInfo& h) { h.kernel = "6.1.0-29-amd64"; });
  changed([](HostInfo& h) { h.governor = "powersave"; });
  changed([](HostInfo& h) { h.smt = "on"; });
  changed([](HostInfo& h) { h.virtualized = true; });
  changed([](HostInfo& h) { h.memory_bytes = *h.memory_bytes / 2; });
  changed([](HostInfo& h) { h.cpu_count = 8; });
  changed([](HostInfo& h) { h.caches[2].byte_size *= 2; });
  changed([](HostInfo& h) { h.caches.pop_back(); });
}

TEST(Fingerprint, HostNameAndAFewMegabytesDoNotCount) {
  const HostInfo base = ReadHostInfo(Fixture("amd_zen4_metal"));
  HostInfo host = base;
  host.hostname = "renamed";
  host.memory_bytes = *host.memory_bytes - (int64_t{8} << 20);
  EXPECT_EQ(Fingerprint(host), Fingerprint(base));
}

TEST(ReadAvailableMemory, ReadsOrIsAbsent) {
  EXPECT_EQ(ReadAvailableMemory(Fixture("arm_v1_guest")), int64_t{3500000} * 1024);
  EXPECT_FALSE(ReadAvailableMemory("/nonexistent").has_value());
}

}  // namespace
}  // namespace tinyprof
