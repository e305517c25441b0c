// The operands of an OpCase: the one-node graph, the elements, guarded memory. For op_test_util.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/tensor/buffer.h"
#include "tests/unit/kernels/op_test_util.h"

namespace tinyprof {

// Memory between two guards; Check() says whether anybody wrote there.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t byte_size);
  std::byte* data() { return buffer_.data() + kGuardBytes; }
  const std::byte* data() const { return buffer_.data() + kGuardBytes; }
  size_t byte_size() const { return byte_size_; }
  void Set(int value);
  bool intact() const;

 private:
  static constexpr size_t kGuardBytes = 256;

  size_t byte_size_;
  Buffer buffer_;
};

// A graph of the one node, the elements of its operands, and its signature.
struct Prepared {
  Graph graph;
  std::vector<std::vector<std::byte>> operands;
  NodeSignature signature;
};

// The one-node graph, or the error of the type rule.
Result<Graph> BuildGraph(const OpCase& op_case);
// Null, and a test failure, when the node is refused.
std::unique_ptr<Prepared> Prepare(const OpCase& op_case);
// The same case with float64 for float32 and the same elements (their absolute values on request).
OpCase Widened(const OpCase& op_case, const Prepared& prepared, bool absolute);
// `count` elements of any dtype.
std::vector<double> ToDoubles(DType dtype, const void* data, int64_t count);

}  // namespace tinyprof
