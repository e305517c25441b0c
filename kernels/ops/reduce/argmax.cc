// ArgMax: the index of the largest element along an axis; of equal ones the first, or the last with
// select_last_index. NaN is larger than any number, as in NumPy.
#include "kernels/ops/partition.h"
#include "kernels/ops/reduce/reference.h"

namespace tinyprof {
namespace {

template <class T>
bool IsNan(T x) {
  return x != x;
}

template <class T>
class ArgMaxKernel final : public Kernel {
 public:
  ArgMaxKernel(const ReducePlan& plan, bool last_of_equal, int threads)
      : plan_(plan),
        last_of_equal_(last_of_equal),
        threads_(ThreadsFor(plan.kept.element_count * plan.reduced.element_count, threads)) {}
  std::string implementation() const override { return "scan"; }

  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(plan_.kept.element_count, part, threads_);
      ForEachRow(plan_.kept, range.begin, range.end, [&](const BroadcastRow& row) {
        for (int64_t i = 0; i < row.length; ++i) {
          args.Out<int64_t>()[row.begin + i] =
              IndexOfLargest(args.In<T>(0) + row.offsets[0] + i * plan_.kept.inner_stride(0));
        }
      });
    }
  }

 private:
  // Over the one reduced axis.
  int64_t IndexOfLargest(const T* x) const {
    const int64_t stride = plan_.reduced.inner_stride(0);
    int64_t best = 0;
    for (int64_t i = 1; i < plan_.reduced.element_count; ++i) {
      const T candidate = x[i * stride];
      const T largest = x[best * stride];
      const bool equal = candidate == largest || (IsNan(candidate) && IsNan(largest));
      const bool larger = candidate > largest || (IsNan(candidate) && !IsNan(largest));
      if (larger || (equal && last_of_equal_)) best = i;
    }
    return best;
  }

  ReducePlan plan_;
  bool last_of_equal_;
  int threads_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeArgMaxKernel(const NodeSignature& signature,
                                                 const KernelOptions& options) {
  TINYPROF_ASSIGN_OR_RETURN(const ReducePlan plan, ReducePlanOf(signature));
  const bool last = signature.Int("select_last_index", 0) != 0;
  switch (signature.input(0).dtype) {
    case DType::kFloat64:
      return std::make_unique<ArgMaxKernel<double>>(plan, last, options.threads);
    case DType::kInt32:
      return std::make_unique<ArgMaxKernel<int32_t>>(plan, last, options.threads);
    case DType::kInt64:
      return std::make_unique<ArgMaxKernel<int64_t>>(plan, last, options.threads);
    default:
      return std::make_unique<ArgMaxKernel<float>>(plan, last, options.threads);
  }
}

}  // namespace tinyprof
