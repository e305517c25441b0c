// Any file that becomes a graph of little work must run, by the reference kernels and by fused
// Eigen ones, without touching memory that is not its own.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "daemon/model/onnx_import.h"
#include "kernels/runtime/isa.h"
#include "kernels/runtime/run_plan.h"
#include "kernels/runtime/session.h"
#include "kernels/zoo/analysis.h"

namespace tinyprof {
namespace {

constexpr int64_t kMaxOperations = 1'000'000;
constexpr int64_t kMaxBytes = int64_t{4} << 20;

bool IsLittleWork(const ModelAnalysis& analysis) {
  return analysis.coverage.unknown_ops.empty() && analysis.layers.size() <= 100 &&
         analysis.totals.flop_count() <= kMaxOperations &&
         analysis.totals.int_op_count <= kMaxOperations &&
         analysis.totals.compulsory_bytes() <= kMaxBytes;
}

void Run(Graph graph, const SessionOptions& options, bool fuse) {
  const Result<RunPlan> plan = PlanRun(std::move(graph), options, fuse);
  if (!plan) return;
  const auto session = Session::Create(plan->graph, plan->options);
  if (!session) return;
  (*session)->FillInputs();
  (*session)->RunAll();
}

}  // namespace
}  // namespace tinyprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tinyprof;
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  const auto graph = ImportOnnx(file, {.name = "fuzz"});
  if (!graph) return 0;
  const auto analysis = Analyze(*graph);
  if (!analysis || !IsLittleWork(*analysis)) return 0;
  const int64_t memory_limit_bytes = 16 * kMaxBytes;
  Run(*graph, {.backend = Backend::kReference, .memory_limit_bytes = memory_limit_bytes}, false);
  Run(*graph,
      {.backend = Backend::kEigen,
       .isa = HostIsas().back(),
       .memory_limit_bytes = memory_limit_bytes},
      true);
  return 0;
}
