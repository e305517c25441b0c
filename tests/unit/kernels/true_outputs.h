// A network's outputs beside those of its naive kernels.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/runtime/session.h"

namespace tinyprof {

// `session` runs `graph`, or what was made of it, and gives what the naive kernels give: within
// `tolerance` of the largest element of each float32 output, and again in a second pass.
inline void ExpectTrueOutputs(const Graph& graph, Session& session, double tolerance) {
  const auto truth = *Session::Create(graph, {.backend = Backend::kReference, .layouts = {}});
  truth->RunAll();
  for (int pass = 0; pass < 2; ++pass) session.RunAll();
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const ConstTensorView got = session.output(k);
    const ConstTensorView want = truth->output(k);
    ASSERT_EQ(got.type, want.type);
    double largest = 0;
    for (int64_t i = 0; i < want.element_count(); ++i) {
      largest = std::max(largest, std::fabs(double{want.As<float>()[i]}));
    }
    for (int64_t i = 0; i < want.element_count(); ++i) {
      ASSERT_NEAR(got.As<float>()[i], want.As<float>()[i], tolerance * largest)
          << "output " << k << " element " << i;
    }
  }
}

}  // namespace tinyprof
