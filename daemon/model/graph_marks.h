// What an imported graph's values are used for.
#pragma once

#include "kernels/graph/graph.h"

namespace tinyprof {

// Marks as parameters the float initializers in the places where training puts weights: the weight
// and bias of convolutions, matrix products, norms, embeddings and recurrent layers, and vectors in
// element-wise operators; of quantized operators the 8-bit weight and the int32 bias. Running
// statistics and single numbers are none.
void MarkParameters(Graph& graph);

// Lets integer inputs that index a table be drawn from its rows.
void BoundTokenInputs(Graph& graph);

}  // namespace tinyprof
