// Which nodes of a float32 network a node of its quantized form does the work of.
//
// Noted among the attributes of the node, under a name that no operator has: no kernel looks at it,
// and nothing but a copy of the node loses it. An ONNX file has it in the node's doc_string, since
// other engines refuse attributes that they do not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/graph/graph.h"

namespace tinyprof {

inline constexpr std::string_view kOriginsAttribute = "tinyprof_stands_for";

// Names of float32 nodes, in their order; empty when the node is one of these itself, was added, or
// nothing is noted.
std::vector<std::string> OriginsOf(const Node& node);

// The same, but the node's own name where nothing is noted.
std::vector<std::string> NodesFor(const Node& node);

// Notes `names`, at least one. Nothing is noted where they say no more than the node's own name, or
// where one holds a line break, which separates them.
void SetOrigins(Node& node, const std::vector<std::string>& names);

}  // namespace tinyprof
