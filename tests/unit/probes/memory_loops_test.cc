#include "kernels/probes/memory_loops.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/tensor/buffer.h"

namespace tinyprof {
namespace {

// Three arrays with a guard block behind each, filled with numbers that are exact in float.
class Arrays {
 public:
  explicit Arrays(int64_t bytes) : count_(bytes / 4) {
    for (Buffer* buffer : {&target_, &a_, &b_}) {
      Result<Buffer> made = Buffer::Create(bytes + kMemoryBlockBytes);
      if (made.has_value()) *buffer = *std::move(made);
    }
    for (int64_t i = 0; i < total(); ++i) {
      Floats(target_)[i] = -1;
      Floats(a_)[i] = static_cast<float>(i % 1000);
      Floats(b_)[i] = static_cast<float>(i % 77);
    }
  }
  void Run(const MemoryLoop& loop) { loop.run(target_.data(), a_.data(), b_.data(), count_ * 4); }
  float target(int64_t i) { return Floats(target_)[i]; }
  float a(int64_t i) { return Floats(a_)[i]; }
  float b(int64_t i) { return Floats(b_)[i]; }
  int64_t count() const { return count_; }
  int64_t total() const { return count_ + kMemoryBlockBytes / 4; }

 private:
  static float* Floats(Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }
  int64_t count_;
  Buffer target_, a_, b_;
};

float Expected(MemoryOp op, Arrays& arrays, int64_t i) {
  if (op == MemoryOp::kLoad || i >= arrays.count()) return -1;
  if (ArrayCount(op) == 2) return arrays.a(i);
  return arrays.a(i) + 3 * arrays.b(i);
}

TEST(MemoryLoops, WriteWhatTheySayAndNoMore) {
  ASSERT_FALSE(HostMemoryLoops().empty());
  for (const MemoryLoop& loop : HostMemoryLoops()) {
    for (const int64_t blocks : {0, 1, 2, 7}) {
      Arrays arrays(blocks * kMemoryBlockBytes);
      arrays.Run(loop);
      for (int64_t i = 0; i < arrays.total(); ++i) {
        ASSERT_EQ(arrays.target(i), Expected(loop.op, arrays, i))
            << Name(loop.isa) << " " << Name(loop.op) << " element " << i;
      }
    }
  }
}

TEST(MemoryLoops, CountsAccountForEveryByteOfABlock) {
  for (const MemoryLoop& loop : HostMemoryLoops()) {
    const int64_t arrays = ArrayCount(loop.op);
    const int64_t stored = arrays == 1 ? 0 : kMemoryBlockBytes;
    const int64_t loaded = arrays == 1 ? kMemoryBlockBytes : (arrays - 1) * kMemoryBlockBytes;
    EXPECT_EQ(loop.stores_per_block * loop.bytes_per_instruction, stored) << Name(loop.op);
    EXPECT_EQ(loop.loads_per_block * loop.bytes_per_instruction, loaded) << Name(loop.op);
  }
}

TEST(MemoryLoops, EveryWidthHasEveryOperation) {
  for (const MemoryLoop& loop : HostMemoryLoops()) {
    for (const MemoryOp op : {MemoryOp::kLoad, MemoryOp::kCopy, MemoryOp::kTriad,
                              MemoryOp::kCopyNonTemporal, MemoryOp::kTriadNonTemporal}) {
      ASSERT_NE(FindMemoryLoop(loop.isa, op), nullptr) << Name(loop.isa) << " " << Name(op);
      EXPECT_EQ(FindMemoryLoop(loop.isa, op)->op, op);
    }
  }
}

TEST(MemoryLoopsDeathTest, OddSizesAreABug) {
  const MemoryLoop& loop = HostMemoryLoops().front();
  EXPECT_DEATH(loop.run(nullptr, nullptr, nullptr, 100), "broken invariant");
  EXPECT_DEATH(loop.run(nullptr, nullptr, nullptr, -512), "broken invariant");
}

}  // namespace
}  // namespace tinyprof
