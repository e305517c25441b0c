#include "kernels/zoo/layer_kinds.h"

#include <fmt/format.h>

namespace tinyprof {
namespace {

using Table = std::map<std::string, const LayerKind*, std::less<>>;

const Table& ByName() {
  static const Table table = [] {
    Table by_name;
    for (const auto kinds :
         {DenseLayerKinds(), ActivationLayerKinds(), SpatialLayerKinds(), SequenceLayerKinds()}) {
      for (const LayerKind& kind : kinds) by_name.emplace(kind.name, &kind);
    }
    return by_name;
  }();
  return table;
}

}  // namespace

ValueId LayerContext::Mismatch(std::string_view got, std::string_view wanted) const {
  builder.SetError({ErrorCode::kInvalidArgument,
                    "SHAPE_MISMATCH",
                    fmt::format("input {}, wanted {}", got, wanted),
                    {{"got", std::string(got)}, {"wanted", std::string(wanted)}}});
  return kNoValue;
}

bool LayerContext::HasRank(size_t rank, std::string_view layout) const {
  if (!builder.ok()) return false;
  if (shape().rank() == rank) return true;
  Mismatch(fmt::format("is {}", shape().ToString()), layout);
  return false;
}

bool LayerContext::HasDim(size_t axis, int64_t wanted, std::string_view what) const {
  if (!builder.ok()) return false;
  if (shape()[axis] == wanted) return true;
  Mismatch(fmt::format("has {} {}", shape()[axis], what), std::to_string(wanted));
  return false;
}

const LayerKind* FindLayerKind(std::string_view name) {
  const auto found = ByName().find(name);
  return found == ByName().end() ? nullptr : found->second;
}

std::vector<std::string> LayerKindNames() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : ByName()) names.push_back(name);
  return names;
}

}  // namespace tinyprof
