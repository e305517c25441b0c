// ArgMax and ArgMin: the index of the largest or smallest element along an axis; of equal ones the
// first, or the last with select_last_index. NaN comes before any number, as in NumPy.
#include "kernels/ops/number_kernel.h"
#include "kernels/ops/reduce/parallel.h"
#include "kernels/ops/reduce/reference.h"

namespace tinyprof {
namespace {

template <class T>
bool IsNan(T x) {
  return x != x;
}

template <class T>
class ArgMinMaxKernel final : public Kernel {
 public:
  ArgMinMaxKernel(const ReducePlan& plan, bool smallest, bool last_of_equal, int threads)
      : plan_(plan),
        smallest_(smallest),
        last_of_equal_(last_of_equal),
        threads_(ThreadsFor(plan, threads)) {}
  std::string implementation() const override { return "scan"; }

  void Run(const KernelArgs& args) const noexcept override {
    ForEachOutput(plan_, threads_, [&](int64_t output, int64_t first) {
      args.Out<int64_t>()[output] = IndexOfBest(args.In<T>(0) + first);
    });
  }

 private:
  // Over the one reduced axis.
  int64_t IndexOfBest(const T* x) const {
    const int64_t stride = plan_.reduced.inner_stride(0);
    int64_t best = 0;
    for (int64_t i = 1; i < plan_.reduced.element_count; ++i) {
      const T candidate = x[i * stride];
      const T champion = x[best * stride];
      const bool equal = candidate == champion || (IsNan(candidate) && IsNan(champion));
      const bool beats = smallest_ ? candidate < champion : candidate > champion;
      const bool better = beats || (IsNan(candidate) && !IsNan(champion));
      if (better || (equal && last_of_equal_)) best = i;
    }
    return best;
  }

  ReducePlan plan_;
  bool smallest_;
  bool last_of_equal_;
  int threads_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeArgMinMaxKernel(const NodeSignature& signature,
                                                    const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const ReducePlan plan, ReducePlanOf(signature));
  return MakeForNumber<ArgMinMaxKernel>(signature, plan, signature.node->op_type == "ArgMin",
                                        signature.Int("select_last_index", 0) != 0,
                                        options.threads);
}

}  // namespace tinyprof
