#include "daemon/rpc/chunk_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <vector>

#include "tests/unit/ops/temp_dir.h"

namespace tinyprof {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

// `size` bytes that do not repeat with the period of a chunk.
std::string Bytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

TEST(ChunkWriter, CutsAndJoinsPieces) {
  std::vector<std::string> chunks;
  ChunkWriter writer([&](std::string&& chunk) {
    chunks.push_back(std::move(chunk));
    return true;
  });
  const std::string all = Bytes(2 * kChunk + 10);
  const std::string_view view = all;
  for (const auto& [begin, end] : std::vector<std::pair<size_t, size_t>>{
           {0, 1}, {1, 1}, {1, kChunk + 5}, {kChunk + 5, all.size()}}) {
    ASSERT_TRUE(writer.Append(view.substr(begin, end - begin)).has_value());
  }
  ASSERT_TRUE(writer.Flush().has_value());
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].size(), kChunk);
  EXPECT_EQ(chunks[1].size(), kChunk);
  EXPECT_EQ(chunks[2].size(), 10u);
  EXPECT_TRUE(std::accumulate(chunks.begin(), chunks.end(), std::string()) == all);
}

TEST(ChunkWriter, SendsNothingForNothing) {
  int calls = 0;
  ChunkWriter writer([&](std::string&&) { return ++calls > 0; });
  ASSERT_TRUE(writer.Append("").has_value());
  ASSERT_TRUE(writer.Flush().has_value());
  EXPECT_EQ(calls, 0);
}

TEST(ChunkWriter, SendsAFile) {
  const TempDir dir;
  const std::string all = Bytes(kChunk + 3);
  const int fd = open(dir.Write("f", all).c_str(), O_RDONLY | O_CLOEXEC);
  std::string sent;
  ChunkWriter writer([&](std::string&& chunk) {
    sent += chunk;
    return true;
  });
  ASSERT_TRUE(writer.AppendFile(fd).has_value());
  ASSERT_TRUE(writer.Flush().has_value());
  EXPECT_TRUE(sent == all);
  close(fd);
  const Status after_close = writer.AppendFile(fd);
  ASSERT_FALSE(after_close.has_value());
  EXPECT_EQ(after_close.error().reason, "READ_FAILED");
}

TEST(ChunkWriter, StopsWhenTheReceiverHasLeft) {
  ChunkWriter writer([](std::string&&) { return false; });
  const Status appended = writer.Append(Bytes(kChunk));
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace tinyprof
