// How the threads of a team share the outputs of a reduction.
#pragma once

#include "kernels/ops/partition.h"
#include "kernels/ops/reduce/reduce.h"

namespace tinyprof {

inline int ThreadsFor(const ReducePlan& plan, int threads) {
  return ThreadsFor(plan.kept.element_count * plan.reduced.element_count, threads);
}

// Calls body(row) with every row of `plan.kept`, each on one of `threads` threads.
template <class Body>
void ForEachOutputRow(const ReducePlan& plan, int threads, const Body& body) {
#pragma omp parallel for num_threads(threads)
  for (int part = 0; part < threads; ++part) {
    const Partition range = PartOf(plan.kept.element_count, part, threads);
    ForEachRow(plan.kept, range.begin, range.end, body);
  }
}

// Calls body(output, first) for every output, each on one of `threads` threads: its index, and the
// offset of the first element that is folded into it.
template <class Body>
void ForEachOutput(const ReducePlan& plan, int threads, const Body& body) {
  ForEachOutputRow(plan, threads, [&](const BroadcastRow& row) {
    for (int64_t i = 0; i < row.length; ++i) {
      body(row.begin + i, row.offsets[0] + i * plan.kept.inner_stride(0));
    }
  });
}

}  // namespace tinyprof
