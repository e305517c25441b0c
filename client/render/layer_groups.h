// Layers of two sides, grouped by the nodes whose work they do: a fused layer with its parts,
// layers of a quantized network with the float32 ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tinyprof/v1/run.pb.h"

namespace tinyprof::client {

using Layers = google::protobuf::RepeatedPtrField<v1::LayerReport>;

// The nodes that a layer does the work of.
std::vector<std::string> NodesOf(const v1::LayerReport& layer);

struct LayerGroup {
  // What one side has of the group.
  struct Side {
    std::vector<int> layers;         // their places in each run of the side
    std::vector<std::string> nodes;  // in the order of the run, each once
  };
  Side a;
  Side b;

  // Both have layers, and these do the work of the same nodes.
  bool Matches() const;
};

// Two layers that share a node are in one group.
class LayerGroups {
 public:
  LayerGroups(const Layers& a, const Layers& b);

  // The group that the layer, one of either side, is in.
  const LayerGroup& Of(const v1::LayerReport& layer) const;

 private:
  std::string RootOf(std::string node) const;
  void Join(const std::vector<std::string>& nodes);
  void Add(int place, const v1::LayerReport& layer, LayerGroup::Side LayerGroup::*which);

  std::map<std::string, std::string> parents_;  // of a node that is not the root of its group
  std::map<std::string, LayerGroup> groups_;    // by root
};

}  // namespace tinyprof::client
