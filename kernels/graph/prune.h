// Clean-up of a graph that was imported or rewritten.
#pragma once

#include "kernels/graph/graph.h"

namespace tinyprof {

// Drops nodes that no output depends on and initializers that nothing reads. Inputs stay.
void Prune(Graph& graph);

}  // namespace tinyprof
