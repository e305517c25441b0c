#include "client/render/layer_groups.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tinyprof::client {

std::vector<std::string> NodesOf(const v1::LayerReport& layer) {
  const v1::LayerAnalysis& analysis = layer.analysis();
  if (!analysis.stands_for().empty()) {
    return {analysis.stands_for().begin(), analysis.stands_for().end()};
  }
  if (!analysis.fused().empty()) return {analysis.fused().begin(), analysis.fused().end()};
  return {analysis.name()};
}

bool LayerGroup::Matches() const {
  const std::set<std::string> wanted(a.nodes.begin(), a.nodes.end());
  return !wanted.empty() && wanted == std::set<std::string>(b.nodes.begin(), b.nodes.end());
}

LayerGroups::LayerGroups(const Layers& a, const Layers& b) {
  for (const Layers* layers : {&a, &b}) {
    for (const auto& layer : *layers) Join(NodesOf(layer));
  }
  for (int i = 0; i < a.size(); ++i) Add(i, a[i], &LayerGroup::a);
  for (int i = 0; i < b.size(); ++i) Add(i, b[i], &LayerGroup::b);
}

const LayerGroup& LayerGroups::Of(const v1::LayerReport& layer) const {
  return groups_.at(RootOf(NodesOf(layer).front()));
}

std::string LayerGroups::RootOf(std::string node) const {
  for (auto next = parents_.find(node); next != parents_.end(); next = parents_.find(node)) {
    node = next->second;
  }
  return node;
}

void LayerGroups::Join(const std::vector<std::string>& nodes) {
  const std::string root = RootOf(nodes.front());
  for (const std::string& node : nodes) {
    const std::string other = RootOf(node);
    if (other != root) parents_[other] = root;
  }
}

void LayerGroups::Add(int place, const v1::LayerReport& layer,
                      LayerGroup::Side LayerGroup::*which) {
  const std::vector<std::string> nodes = NodesOf(layer);
  LayerGroup::Side& side = groups_[RootOf(nodes.front())].*which;
  side.layers.push_back(place);
  for (const std::string& node : nodes) {
    if (std::find(side.nodes.begin(), side.nodes.end(), node) == side.nodes.end()) {
      side.nodes.push_back(node);
    }
  }
}

}  // namespace tinyprof::client
