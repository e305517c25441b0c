#include "kernels/probes/caches.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tinyprof {
namespace {

// The reason of an error, "" for a value.
template <class T>
std::string ReasonOf(const Result<T>& result) {
  return result.has_value() ? std::string() : result.error().reason;
}

// A root folder with one CPU's cache entries, removed at the end.
class CachesTest : public testing::Test {
 protected:
  CachesTest()
      : root_(std::filesystem::temp_directory_path() /
              ("tinyprof_caches_" + std::to_string(getpid()))) {}
  ~CachesTest() override { std::filesystem::remove_all(root_); }

  void Write(int index, const std::string& file, const std::string& text) {
    const auto folder =
        root_ / "sys/devices/system/cpu/cpu3/cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / file) << text << "\n";
  }
  void Entry(int index, const std::string& level, const std::string& type, const std::string& size,
             const std::string& cpus) {
    Write(index, "level", level);
    Write(index, "type", type);
    Write(index, "size", size);
    Write(index, "shared_cpu_list", cpus);
    Write(index, "coherency_line_size", "64");
  }

  std::filesystem::path root_;
};

TEST_F(CachesTest, ReadsDataCachesByLevel) {
  Entry(0, "1", "Data", "32K", "3,7");
  Entry(1, "1", "Instruction", "32K", "3,7");
  Entry(2, "3", "Unified", "32768K", "0-7");
  Entry(3, "2", "Unified", "1024K", "3,7");
  const auto caches = ReadCaches(root_, 3);
  ASSERT_TRUE(caches.has_value()) << caches.error().message;
  ASSERT_EQ(caches->size(), 3u);
  EXPECT_EQ((*caches)[0], (Cache{1, 32 * 1024, 64, {3, 7}}));
  EXPECT_EQ((*caches)[1], (Cache{2, 1024 * 1024, 64, {3, 7}}));
  EXPECT_EQ((*caches)[2], (Cache{3, 32 * 1024 * 1024, 64, {0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST_F(CachesTest, NoEntriesIsAReasonNotZero) {
  const auto caches = ReadCaches(root_, 3);
  ASSERT_FALSE(caches.has_value());
  EXPECT_EQ(caches.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReasonOf(caches), "NO_CACHE_INFO");
}

TEST_F(CachesTest, NonsenseIsRefused) {
  for (const std::string size : {"", "0K", "-1K", "48X", "99999999999999999999K"}) {
    Entry(0, "1", "Data", size, "0");
    const auto caches = ReadCaches(root_, 3);
    ASSERT_FALSE(caches.has_value()) << size;
    EXPECT_EQ(ReasonOf(caches), "BAD_CACHE_INFO") << size;
  }
  Entry(0, "one", "Data", "48K", "0");
  EXPECT_EQ(ReasonOf(ReadCaches(root_, 3)), "BAD_CACHE_INFO");
  Entry(0, "1", "Data", "48K", "zero");
  EXPECT_EQ(ReasonOf(ReadCaches(root_, 3)), "BAD_CPU_LIST");
}

TEST(ParseCacheSize, UnitsAndLimits) {
  EXPECT_EQ(ParseCacheSize("48K"), 49152);
  EXPECT_EQ(ParseCacheSize("32M"), 33554432);
  EXPECT_EQ(ParseCacheSize("1G"), 1073741824);
  EXPECT_EQ(ParseCacheSize("512"), 512);
  EXPECT_EQ(ParseCacheSize("1024G"), int64_t{1} << 40);
  for (const char* bad : {"", "K", "1025G", "4 K", "-4K", "4KB", "0x10", "9223372036854775807K"}) {
    EXPECT_FALSE(ParseCacheSize(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace tinyprof
