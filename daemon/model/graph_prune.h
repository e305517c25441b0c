// Clean-up of an imported graph.
#pragma once

#include "kernels/graph/graph.h"

namespace tinyprof {

// Drops nodes that no output depends on and initializers that nothing reads. Inputs stay.
void Prune(Graph& graph);

// Marks as parameters the float initializers in the places where training puts weights: the weight
// and bias of convolutions, matrix products, norms, embeddings and recurrent layers, and vectors in
// element-wise operators. Running statistics and single numbers are none.
void MarkParameters(Graph& graph);

// Lets integer inputs that index a table be drawn from its rows.
void BoundTokenInputs(Graph& graph);

}  // namespace tinyprof
