// Type rules of the operators that give the same elements another shape, and of those that make
// tensors from shapes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/base/checked_math.h"
#include "kernels/ops/shape/infer.h"

namespace tinyprof {
namespace {

Result<Types> OneOutput(const NodeSignature& signature, DType dtype, std::vector<int64_t> dims) {
  Result<Shape> shape = Shape::Create(std::move(dims));
  if (!shape) return ShapeMismatch(signature, shape.error().message);
  return Types{{dtype, *std::move(shape)}};
}

// Replaces 0 (keep the input's dimension) and -1 (what is left) in a Reshape's target.
Result<std::vector<int64_t>> ResolveTarget(const NodeSignature& signature,
                                           std::vector<int64_t> target) {
  const Shape& from = signature.input(0).shape;
  const bool zero_is_zero = signature.Int("allowzero", 0) != 0;
  int64_t* unknown = nullptr;
  int64_t known = 1;
  for (size_t d = 0; d < target.size(); ++d) {
    if (target[d] == 0 && !zero_is_zero) {
      if (d >= from.rank()) {
        return ShapeMismatch(signature, fmt::format("target dimension {} is 0 (keep), but the "
                                                    "input has shape {}",
                                                    d, from.ToString()));
      }
      target[d] = from[d];
    }
    if (target[d] == -1 && unknown == nullptr) {
      unknown = &target[d];
    } else if (target[d] < 0) {
      return ShapeMismatch(signature,
                           fmt::format("target shape [{}] has more than one unknown dimension or "
                                       "a negative one",
                                       fmt::join(target, ", ")));
    } else {
      TINYPROF_ASSIGN_OR_RETURN(known, CheckedMul(known, target[d]));
    }
  }
  if (unknown != nullptr && known > 0) *unknown = from.element_count() / known;
  if (unknown != nullptr && known == 0) *unknown = 0;
  return target;
}

// Marks [0, rank) by `axes`.
std::vector<bool> Marked(const std::vector<size_t>& axes, size_t rank) {
  std::vector<bool> marked(rank, false);
  for (const size_t axis : axes) marked[axis] = true;
  return marked;
}

// The axes that Squeeze removes: those given, or all of length 1.
Result<std::vector<size_t>> SqueezedAxes(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  if (!signature.has_attribute("axes") && !signature.has_input(1)) {
    std::vector<size_t> axes;
    for (size_t d = 0; d < shape.rank(); ++d) {
      if (shape[d] == 1) axes.push_back(d);
    }
    return axes;
  }
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                            KnownInts(signature, "axes", 1, "axes"));
  return NormalizeAxes(signature, axes, shape.rank());
}

// Of DepthToSpace and SpaceToDepth, whose input is a batch of images.
Result<int64_t> BlockSizeOf(const NodeSignature& signature) {
  constexpr int64_t kMaxBlock = 1 << 15;
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 4, 4));
  const int64_t block = signature.Int("blocksize", 0);
  if (block >= 1 && block <= kMaxBlock) return block;
  return BadAttribute(signature, fmt::format("blocksize is {}, wanted 1 to {}", block, kMaxBlock));
}

}  // namespace

Result<Types> InferReshape(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(std::vector<int64_t> target,
                            KnownInts(signature, "shape", 1, "target shape"));
  const std::string wanted = fmt::format("[{}]", fmt::join(target, ", "));
  TINYPROF_ASSIGN_OR_RETURN(target, ResolveTarget(signature, std::move(target)));
  const TensorType& from = signature.input(0);
  TINYPROF_ASSIGN_OR_RETURN(Types types, OneOutput(signature, from.dtype, std::move(target)));
  if (types[0].shape.element_count() != from.shape.element_count()) {
    return ShapeMismatch(signature,
                         fmt::format("{} with {} elements cannot become {}", from.shape.ToString(),
                                     from.shape.element_count(), wanted));
  }
  return types;
}

Result<Types> InferFlatten(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  const Shape& shape = signature.input(0).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  const int64_t axis = signature.Int("axis", 1);
  // Unlike elsewhere, rank itself is an axis: it puts all dimensions before the cut.
  if (axis < -rank || axis > rank) {
    return Fail(ErrorCode::kInvalidArgument, "BAD_AXIS",
                fmt::format("Flatten: axis {} is outside of [-{}, {}]", axis, rank, rank));
  }
  const auto cut = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  std::vector<int64_t> dims{1, 1};
  for (size_t d = 0; d < shape.rank(); ++d) dims[d < cut ? 0 : 1] *= shape[d];
  return OneOutput(signature, signature.input(0).dtype, std::move(dims));
}

Result<Types> InferSqueeze(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<size_t> axes, SqueezedAxes(signature));
  const std::vector<bool> removed = Marked(axes, shape.rank());
  std::vector<int64_t> dims;
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (removed[d] && shape[d] != 1) {
      return ShapeMismatch(signature, fmt::format("axis {} of shape {} has length {}, wanted 1", d,
                                                  shape.ToString(), shape[d]));
    }
    if (!removed[d]) dims.push_back(shape[d]);
  }
  return OneOutput(signature, signature.input(0).dtype, std::move(dims));
}

Result<Types> InferUnsqueeze(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  const Shape& shape = signature.input(0).shape;
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                            KnownInts(signature, "axes", 1, "axes"));
  const size_t rank = shape.rank() + axes.size();
  TINYPROF_ASSIGN_OR_RETURN(const std::vector<size_t> positions,
                            NormalizeAxes(signature, axes, rank));
  const std::vector<bool> added = Marked(positions, rank);
  std::vector<int64_t> dims;
  size_t from = 0;
  for (size_t d = 0; d < rank; ++d) dims.push_back(added[d] ? 1 : shape[from++]);
  return OneOutput(signature, signature.input(0).dtype, std::move(dims));
}

std::vector<int64_t> ShapeElementsOf(const NodeSignature& signature) {
  const Shape& shape = signature.input(0).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  const auto clamped = [rank](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t start = clamped(signature.Int("start", 0));
  const int64_t end = std::max(start, clamped(signature.Int("end", rank)));
  return {shape.dims().begin() + start, shape.dims().begin() + end};
}

Result<Types> InferShape(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  return OneOutput(signature, DType::kInt64,
                   {static_cast<int64_t>(ShapeElementsOf(signature).size())});
}

Result<Types> InferConstantOfShape(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(std::vector<int64_t> dims, KnownInts(signature, 0, "shape"));
  const auto value = signature.node->attributes.find("value");
  const bool integers =
      value != signature.node->attributes.end() && std::holds_alternative<int64_t>(value->second);
  return OneOutput(signature, integers ? DType::kInt64 : DType::kFloat32, std::move(dims));
}

Result<Types> InferDepthToSpace(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t block, BlockSizeOf(signature));
  const std::string mode = signature.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return BadAttribute(signature, "mode must be DCR or CRD");
  const Shape& in = signature.input(0).shape;
  if (in[1] % (block * block) != 0) {
    return ShapeMismatch(signature,
                         fmt::format("{} channels are no multiple of {} squared", in[1], block));
  }
  return OneOutput(signature, signature.input(0).dtype,
                   {in[0], in[1] / (block * block), in[2] * block, in[3] * block});
}

Result<Types> InferSpaceToDepth(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t block, BlockSizeOf(signature));
  const Shape& in = signature.input(0).shape;
  if (in[2] % block != 0 || in[3] % block != 0) {
    return ShapeMismatch(
        signature, fmt::format("an image of {} by {} is no multiple of {}", in[2], in[3], block));
  }
  return OneOutput(signature, signature.input(0).dtype,
                   {in[0], in[1] * block * block, in[2] / block, in[3] / block});
}

}  // namespace tinyprof
