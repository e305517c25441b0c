// How the elements of a tensor lie in memory, where a backend wants another order than row-major.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tinyprof {

// Made by a backend, which alone knows what is behind it. Immutable.
class Layout {
 public:
  virtual ~Layout() = default;
  // For people: "aBcd16b" has 16 channels side by side.
  virtual std::string name() const = 0;
  // Memory of the tensor, padding included.
  virtual int64_t byte_size() const = 0;
  virtual bool IsSameAs(const Layout& other) const = 0;
};

// Null: row-major.
using LayoutPtr = std::shared_ptr<const Layout>;

inline bool AreSame(const LayoutPtr& a, const LayoutPtr& b) {
  return a == nullptr || b == nullptr ? a == b : a->IsSameAs(*b);
}

// Those of a node's operands. Empty vectors: all row-major.
struct NodeLayouts {
  std::vector<LayoutPtr> inputs;
  std::vector<LayoutPtr> outputs;

  LayoutPtr input(size_t index) const { return index < inputs.size() ? inputs[index] : nullptr; }
  LayoutPtr output(size_t index = 0) const {
    return index < outputs.size() ? outputs[index] : nullptr;
  }
  bool AllRowMajor() const {
    for (const auto* side : {&inputs, &outputs}) {
      for (const LayoutPtr& layout : *side) {
        if (layout != nullptr) return false;
      }
    }
    return true;
  }
};

}  // namespace tinyprof
