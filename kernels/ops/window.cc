#include "kernels/ops/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ops/checks.h"

namespace tinyprof {
namespace {

// An attribute of `count` integers in [minimum, kMaxWindow]; all `fallback` when it is missing.
Result<std::vector<int64_t>> ReadInts(const NodeSignature& signature, std::string_view name,
                                      size_t count, int64_t minimum, int64_t fallback) {
  std::vector<int64_t> values = signature.Ints(name, std::vector<int64_t>(count, fallback));
  if (values.size() != count) {
    return BadAttribute(signature,
                        fmt::format("{} has {} elements, wanted {}", name, values.size(), count));
  }
  for (const int64_t value : values) {
    if (value < minimum || value > kMaxWindow) {
      return BadAttribute(
          signature, fmt::format("{} holds {}, wanted {} to {}", name, value, minimum, kMaxWindow));
    }
  }
  return values;
}

Result<AutoPad> ReadAutoPad(const NodeSignature& signature) {
  const std::string name = signature.String("auto_pad", "NOTSET");
  if (name == "NOTSET" || name.empty()) return AutoPad::kNotSet;
  if (name == "SAME_UPPER") return AutoPad::kSameUpper;
  if (name == "SAME_LOWER") return AutoPad::kSameLower;
  if (name == "VALID") return AutoPad::kValid;
  return BadAttribute(
      signature,
      fmt::format("auto_pad '{}' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID", name));
}

}  // namespace

Result<Window> ReadWindow(const NodeSignature& signature, const std::vector<int64_t>& kernel) {
  Window window;
  window.rank = kernel.size();
  if (window.rank < 1 || window.rank > 3) {
    return BadAttribute(signature,
                        fmt::format("the kernel has {} spatial axes, wanted 1 to 3", window.rank));
  }
  for (const int64_t length : kernel) {
    if (length >= 1 && length <= kMaxWindow) continue;
    return BadAttribute(
        signature, fmt::format("the kernel has length {}, wanted 1 to {}", length, kMaxWindow));
  }
  TINYPROF_ASSIGN_OR_RETURN(const auto strides, ReadInts(signature, "strides", window.rank, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const auto dilations,
                            ReadInts(signature, "dilations", window.rank, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const auto pads, ReadInts(signature, "pads", 2 * window.rank, 0, 0));
  TINYPROF_ASSIGN_OR_RETURN(window.auto_pad, ReadAutoPad(signature));
  window.ceil_mode = signature.Int("ceil_mode", 0) != 0;
  const bool explicit_pads = window.auto_pad == AutoPad::kNotSet;
  for (size_t i = 0; i < window.rank; ++i) {
    window.axes[i] = {.kernel = kernel[i],
                      .stride = strides[i],
                      .dilation = dilations[i],
                      .pad_begin = explicit_pads ? pads[i] : 0,
                      .pad_end = explicit_pads ? pads[window.rank + i] : 0};
  }
  return window;
}

Result<int64_t> WindowedLength(const NodeSignature& signature, int64_t input, const Window& window,
                               WindowAxis& axis) {
  if (input == 0) return int64_t{0};
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
    const int64_t length = (input + axis.stride - 1) / axis.stride;
    const int64_t total = std::max<int64_t>((length - 1) * axis.stride + axis.span() - input, 0);
    const bool upper = window.auto_pad == AutoPad::kSameUpper;
    axis.pad_begin = upper ? total / 2 : total - total / 2;
    axis.pad_end = total - axis.pad_begin;
    return length;
  }
  const int64_t room = input + axis.pad_begin + axis.pad_end - axis.span();
  if (room < 0) {
    return ShapeMismatch(
        signature, fmt::format("a window of {} elements does not fit into {} with pads {} and {}",
                               axis.span(), input, axis.pad_begin, axis.pad_end));
  }
  int64_t length = room / axis.stride + 1;
  // In ceil mode a last window may hang over the end, but has to begin before the end pad.
  if (window.ceil_mode && room % axis.stride != 0 &&
      length * axis.stride < input + axis.pad_begin) {
    ++length;
  }
  return length;
}

}  // namespace tinyprof
