// Type rules of the operators that put elements elsewhere.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/base/checked_math.h"
#include "kernels/ops/shape/infer.h"

namespace tinyprof {
namespace {

Result<Types> OneOutput(const NodeSignature& signature, std::vector<int64_t> dims) {
  Result<Shape> shape = Shape::Create(std::move(dims));
  if (!shape) return ShapeMismatch(signature, shape.error().message);
  return Types{{signature.input(0).dtype, *std::move(shape)}};
}

Result<Types> SplitTypes(const NodeSignature& signature, size_t axis,
                         const std::vector<int64_t>& lengths) {
  Types types;
  for (const int64_t length : lengths) {
    std::vector<int64_t> dims = signature.input(0).shape.dims();
    dims[axis] = length;
    TINYPROF_ASSIGN_OR_RETURN(Types one, OneOutput(signature, std::move(dims)));
    types.push_back(std::move(one[0]));
  }
  return types;
}

// Equal parts; with "num_outputs" (opset 18) the last may be shorter.
Result<std::vector<int64_t>> EqualParts(const NodeSignature& signature, int64_t length,
                                        size_t output_count) {
  const auto parts = static_cast<int64_t>(output_count);
  const int64_t part = (length + parts - 1) / parts;
  const int64_t last = length - part * (parts - 1);
  if (last < 0 || (last != part && !signature.has_attribute("num_outputs"))) {
    return ShapeMismatch(signature, fmt::format("an axis of length {} cannot be split into {} "
                                                "equal parts",
                                                length, output_count));
  }
  std::vector<int64_t> lengths(output_count, part);
  lengths.back() = last;
  return lengths;
}

Result<std::vector<int64_t>> SplitLengths(const NodeSignature& signature, int64_t length,
                                          size_t output_count) {
  if (!signature.has_attribute("split") && !signature.has_input(1)) {
    return EqualParts(signature, length, output_count);
  }
  TINYPROF_ASSIGN_OR_RETURN(std::vector<int64_t> lengths,
                            KnownInts(signature, "split", 1, "split"));
  int64_t sum = 0;
  for (const int64_t part : lengths) {
    if (part < 0) sum = -1;
    if (sum >= 0) {
      TINYPROF_ASSIGN_OR_RETURN(sum, CheckedAdd(sum, part));
    }
  }
  if (lengths.size() != output_count || sum != length) {
    return ShapeMismatch(signature,
                         fmt::format("split [{}] does not cut an axis of length {} into {} parts",
                                     fmt::join(lengths, ", "), length, output_count));
  }
  return lengths;
}

// Clamps as ONNX says: forward, both bounds to [0, length]; backward, the start to [0, length - 1]
// and the end to [-1, length - 1].
SliceRange ClampedRange(int64_t start, int64_t end, int64_t step, int64_t length) {
  if (length == 0) return {};
  const int64_t high = step > 0 ? length : length - 1;
  const auto clamped = [&](int64_t bound, int64_t low) {
    return std::clamp(bound < 0 ? bound + length : bound, low, high);
  };
  SliceRange range{.start = clamped(start, 0), .step = step};
  const int64_t stop = clamped(end, step > 0 ? 0 : -1);
  const int64_t distance = step > 0 ? stop - range.start : range.start - stop;
  if (distance <= 0) return range;
  // In unsigned arithmetic, for the step INT64_MIN.
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  range.count = static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride + 1);
  return range;
}

struct SliceArguments {
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> axes;
  std::vector<int64_t> steps;
};

Result<SliceArguments> SliceArgumentsOf(const NodeSignature& signature) {
  SliceArguments arguments;
  TINYPROF_ASSIGN_OR_RETURN(arguments.starts, KnownInts(signature, "starts", 1, "starts"));
  TINYPROF_ASSIGN_OR_RETURN(arguments.ends, KnownInts(signature, "ends", 2, "ends"));
  const size_t count = arguments.starts.size();
  for (size_t d = 0; d < count; ++d) arguments.axes.push_back(static_cast<int64_t>(d));
  arguments.steps.assign(count, 1);
  if (signature.has_attribute("axes") || signature.has_input(3)) {
    TINYPROF_ASSIGN_OR_RETURN(arguments.axes, KnownInts(signature, "axes", 3, "axes"));
  }
  if (signature.has_input(4)) {
    TINYPROF_ASSIGN_OR_RETURN(arguments.steps, KnownInts(signature, 4, "steps"));
  }
  if (arguments.ends.size() != count || arguments.axes.size() != count ||
      arguments.steps.size() != count) {
    return ShapeMismatch(
        signature,
        fmt::format("{} starts, {} ends, {} axes and {} steps were given, wanted "
                    "as many of each",
                    count, arguments.ends.size(), arguments.axes.size(), arguments.steps.size()));
  }
  return arguments;
}

}  // namespace

Result<std::vector<size_t>> PermutationOf(const NodeSignature& signature) {
  const size_t rank = signature.input(0).shape.rank();
  std::vector<int64_t> reversed;
  for (size_t d = rank; d-- > 0;) reversed.push_back(static_cast<int64_t>(d));
  const std::vector<int64_t> perm = signature.Ints("perm", std::move(reversed));
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t d = 0; d < sorted.size(); ++d) {
    if (sorted.size() != rank || sorted[d] != static_cast<int64_t>(d)) {
      return BadAttribute(
          signature, fmt::format("perm [{}] is no permutation of the {} dimensions "
                                 "of {}",
                                 fmt::join(perm, ", "), rank, signature.input(0).shape.ToString()));
    }
  }
  if (sorted.size() != rank) return BadAttribute(signature, "perm is empty");
  return std::vector<size_t>(perm.begin(), perm.end());
}

Result<Types> InferTranspose(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 0));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<size_t> perm, PermutationOf(signature));
  std::vector<int64_t> dims;
  for (const size_t axis : perm) dims.push_back(signature.input(0).shape[axis]);
  return OneOutput(signature, std::move(dims));
}

Result<Types> InferExpand(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(std::vector<int64_t> target, KnownInts(signature, 1, "target shape"));
  Result<Shape> wanted = Shape::Create(std::move(target));
  if (!wanted) return ShapeMismatch(signature, wanted.error().message);
  Result<Shape> shape = Broadcast(signature.input(0).shape, *wanted);
  if (!shape) return ShapeMismatch(signature, shape.error().message);
  if (shape->rank() > kMaxRank) {
    return ShapeMismatch(signature, fmt::format("target shape {} has more than {} dimensions",
                                                shape->ToString(), kMaxRank));
  }
  return Types{{signature.input(0).dtype, *std::move(shape)}};
}

Result<std::vector<SliceRange>> SliceRangesOf(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const SliceArguments arguments, SliceArgumentsOf(signature));
  TINYPROF_RETURN_IF_ERROR(NormalizeAxes(signature, arguments.axes, shape.rank()));
  std::vector<SliceRange> ranges;
  for (const int64_t dim : shape.dims()) ranges.push_back({.count = dim});
  for (size_t i = 0; i < arguments.axes.size(); ++i) {
    TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                              NormalizeAxis(signature, arguments.axes[i], shape.rank()));
    if (arguments.steps[i] == 0) return BadAttribute(signature, "a step is 0");
    ranges[axis] =
        ClampedRange(arguments.starts[i], arguments.ends[i], arguments.steps[i], shape[axis]);
  }
  return ranges;
}

Result<Types> InferSlice(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 1));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<SliceRange> ranges, SliceRangesOf(signature));
  std::vector<int64_t> dims;
  for (const SliceRange& range : ranges) dims.push_back(range.count);
  return OneOutput(signature, std::move(dims));
}

Result<Types> InferConcat(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckSameDType(signature, 0, 1));
  const Shape& first = signature.input(0).shape;
  if (!signature.has_attribute("axis")) return BadAttribute(signature, "axis is missing");
  TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                            NormalizeAxis(signature, signature.Int("axis", 0), first.rank()));
  std::vector<int64_t> dims = first.dims();
  for (size_t i = 1; i < signature.inputs.size(); ++i) {
    std::vector<int64_t> own = signature.input(i).shape.dims();
    const int64_t length = own.size() == dims.size() ? own[axis] : 0;
    if (own.size() == dims.size()) own[axis] = first[axis];
    if (!signature.has_input(i) || own != first.dims()) {
      return ShapeMismatch(
          signature, fmt::format("input {} has shape {}, wanted {} but for axis {}", i,
                                 signature.input(i).shape.ToString(), first.ToString(), axis));
    }
    TINYPROF_ASSIGN_OR_RETURN(dims[axis], CheckedAdd(dims[axis], length));
  }
  return OneOutput(signature, std::move(dims));
}

Result<Types> InferSplit(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, INT32_MAX));
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const size_t axis,
                            NormalizeAxis(signature, signature.Int("axis", 0), shape.rank()));
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths,
                            SplitLengths(signature, shape[axis], output_count));
  return SplitTypes(signature, axis, lengths);
}

Result<Types> InferTile(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 0));
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, KnownInts(signature, 1, "repeats"));
  if (repeats.size() != shape.rank()) {
    return ShapeMismatch(signature, fmt::format("{} repeats were given for shape {}, wanted one a "
                                                "dimension",
                                                repeats.size(), shape.ToString()));
  }
  std::vector<int64_t> dims;
  for (size_t d = 0; d < repeats.size(); ++d) {
    TINYPROF_ASSIGN_OR_RETURN(const int64_t dim, CheckedMul(shape[d], repeats[d]));
    dims.push_back(dim);
  }
  return OneOutput(signature, std::move(dims));
}

Result<Padding> PaddingOf(const NodeSignature& signature) {
  const size_t rank = signature.input(0).shape.rank();
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> pads,
                            KnownInts(signature, "pads", 1, "pads"));
  std::vector<int64_t> axes;
  for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  if (signature.has_input(3)) {
    TINYPROF_ASSIGN_OR_RETURN(axes, KnownInts(signature, 3, "axes"));
    TINYPROF_RETURN_IF_ERROR(NormalizeAxes(signature, axes, rank));
  }
  if (pads.size() != 2 * axes.size()) {
    return ShapeMismatch(
        signature, fmt::format("{} pads were given for {} axes, wanted two an axis", pads.size(),
                               axes.size()));
  }
  Padding padding{.before = std::vector<int64_t>(rank, 0), .after = std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    TINYPROF_ASSIGN_OR_RETURN(const size_t axis, NormalizeAxis(signature, axes[i], rank));
    padding.before[axis] = pads[i];
    padding.after[axis] = pads[i + axes.size()];
  }
  return padding;
}

Result<Types> InferPad(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 0));
  const Shape& shape = signature.input(0).shape;
  const std::string mode = signature.String("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge") {
    return BadAttribute(signature, fmt::format("mode is \"{}\", wanted \"constant\", \"reflect\" "
                                               "or \"edge\"",
                                               mode));
  }
  if (signature.Float("value", 0) != 0 && !IsFloat(signature.input(0).dtype)) {
    return Fail(ErrorCode::kUnimplemented, "ATTRIBUTE_NOT_SUPPORTED",
                "Pad with the attribute value is for float32 and float64 only");
  }
  if (signature.has_input(2) && (signature.input(2).dtype != signature.input(0).dtype ||
                                 signature.input(2).shape.element_count() != 1)) {
    return ShapeMismatch(
        signature,
        fmt::format("the constant is {} of shape {}, wanted one {}", Name(signature.input(2).dtype),
                    signature.input(2).shape.ToString(), Name(signature.input(0).dtype)));
  }
  TINYPROF_ASSIGN_OR_RETURN(const Padding padding, PaddingOf(signature));
  std::vector<int64_t> dims;
  for (size_t d = 0; d < shape.rank(); ++d) {
    const int64_t widest = std::max(padding.before[d], padding.after[d]);
    const int64_t limit = mode == "reflect" ? shape[d] - 1 : INT64_MAX;
    if (mode != "constant" && widest > 0 && (shape[d] == 0 || widest > limit)) {
      return ShapeMismatch(signature, fmt::format("{} elements cannot be padded by {} in mode {}",
                                                  shape[d], widest, mode));
    }
    TINYPROF_ASSIGN_OR_RETURN(const int64_t with_before, CheckedAdd(shape[d], padding.before[d]));
    TINYPROF_ASSIGN_OR_RETURN(const int64_t dim, CheckedAdd(with_before, padding.after[d]));
    dims.push_back(dim);
  }
  return OneOutput(signature, std::move(dims));
}

}  // namespace tinyprof
