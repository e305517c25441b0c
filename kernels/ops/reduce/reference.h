// The naive loops of the reductions, as templates on the scalar.
//
// A fold has First (what the first element becomes), Next (how another one joins), Last (what is
// done to the result of n elements), and the classes of these steps; n elements cost First and Last
// once, Next n - 1 times, and kPerInput n times.
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/ops/cost.h"
#include "kernels/ops/elementwise/binary_functors.h"
#include "kernels/ops/elementwise/reference.h"
#include "kernels/ops/kernel.h"
#include "kernels/ops/reduce/reduce.h"
#include "kernels/ops/scalar_math.h"

namespace tinyprof {

struct FoldDefaults {
  static constexpr bool kIntegers = true;
  static constexpr FlopClasses kPerInput{};
  static constexpr FlopClasses kNext{.reduction = 1};
  static constexpr FlopClasses kLast{};
  template <class T>
  static T First(T x) {
    return x;
  }
  template <class T>
  static T Last(T folded, int64_t /*n*/) {
    return folded;
  }
};

struct FoldSum : FoldDefaults {
  template <class T>
  static T Next(T folded, T x) {
    return Add::Apply(folded, x);
  }
};

struct FoldMean : FoldSum {
  static constexpr bool kIntegers = false;
  static constexpr FlopClasses kLast{.add_mul_div = 1};
  template <class T>
  static T Last(T folded, int64_t n) {
    return folded / T(static_cast<double>(n));
  }
};

struct FoldMax : FoldDefaults {
  static constexpr FlopClasses kNext{.minmax = 1};
  template <class T>
  static T Next(T folded, T x) {
    return Max(folded, x);
  }
};

struct FoldMin : FoldDefaults {
  static constexpr FlopClasses kNext{.minmax = 1};
  template <class T>
  static T Next(T folded, T x) {
    return Min(folded, x);
  }
};

struct FoldProduct : FoldDefaults {
  template <class T>
  static T Next(T folded, T x) {
    return Mul::Apply(folded, x);
  }
};

// The square root of the sum of squares.
struct FoldL2 : FoldDefaults {
  static constexpr bool kIntegers = false;
  static constexpr FlopClasses kPerInput{.add_mul_div = 1};
  static constexpr FlopClasses kLast{.add_mul_div = 1};
  template <class T>
  static T First(T x) {
    return x * x;
  }
  template <class T>
  static T Next(T folded, T x) {
    return folded + x * x;
  }
  template <class T>
  static T Last(T folded, int64_t /*n*/) {
    using std::sqrt;
    return sqrt(folded);
  }
};

struct FoldL1 : FoldSum {
  template <class T>
  static T First(T x) {
    return Abs::Apply(x, {});
  }
  template <class T>
  static T Next(T folded, T x) {
    return Add::Apply(folded, Abs::Apply(x, {}));
  }
};

struct FoldSumSquare : FoldSum {
  static constexpr FlopClasses kPerInput{.add_mul_div = 1};
  template <class T>
  static T First(T x) {
    return Mul::Apply(x, x);
  }
  template <class T>
  static T Next(T folded, T x) {
    return Add::Apply(folded, Mul::Apply(x, x));
  }
};

struct FoldLogSum : FoldSum {
  static constexpr bool kIntegers = false;
  static constexpr FlopClasses kLast{.transcendental = 1};
  template <class T>
  static T Last(T folded, int64_t /*n*/) {
    using std::log;
    return log(folded);
  }
};

// The logarithm of the sum of exponentials, less the largest element so that none overflows; see
// LogSumExpAround.
struct FoldLogSumExp : FoldDefaults {
  static constexpr bool kIntegers = false;
  static constexpr FlopClasses kPerInput{.add_mul_div = 1, .transcendental = 1};
  static constexpr FlopClasses kNext{.minmax = 1, .reduction = 1};
  static constexpr FlopClasses kLast{.add_mul_div = 1, .transcendental = 1};
};

template <class T>
T LogSumExpAround(const BroadcastPlan& reduced, const T* x) {
  using std::exp, std::log;
  const auto visit = [&](const auto& join) {
    ForEachRow(reduced, 0, reduced.element_count, [&](const BroadcastRow& row) {
      for (int64_t i = row.begin == 0 ? 1 : 0; i < row.length; ++i) {
        join(x[row.offsets[0] + i * reduced.inner_stride(0)]);
      }
    });
  };
  T largest = x[0];
  visit([&](T element) { largest = Max(largest, element); });
  // Infinite elements would give inf - inf.
  const T shift = std::isfinite(static_cast<double>(largest)) ? largest : T(0);
  T sum = exp(x[0] - shift);
  visit([&](T element) { sum += exp(element - shift); });
  return log(sum) + shift;
}

template <class Fold, class T>
T FoldInto(const BroadcastPlan& reduced, const T* x) {
  T folded = Fold::First(x[0]);
  ForEachRow(reduced, 0, reduced.element_count, [&](const BroadcastRow& row) {
    for (int64_t i = row.begin == 0 ? 1 : 0; i < row.length; ++i) {
      folded = Fold::Next(folded, x[row.offsets[0] + i * reduced.inner_stride(0)]);
    }
  });
  return Fold::Last(folded, reduced.element_count);
}

// Folds the elements of `reduced` that lie around x.
template <class Fold, class T>
T FoldAround(const BroadcastPlan& reduced, const T* x) {
  if constexpr (std::is_same_v<Fold, FoldLogSumExp>) {
    return LogSumExpAround(reduced, x);
  } else {
    return FoldInto<Fold>(reduced, x);
  }
}

template <class T, class Fold>
void ReduceLoop(const ReducePlan& plan, const T* x, T* y) {
  ForEachRow(plan.kept, 0, plan.kept.element_count, [&](const BroadcastRow& row) {
    for (int64_t i = 0; i < row.length; ++i) {
      const T* first = x + row.offsets[0] + i * plan.kept.inner_stride(0);
      y[row.begin + i] = FoldAround<Fold>(plan.reduced, first);
    }
  });
}

template <class T, class Fold>
class ReduceReference final : public Kernel {
 public:
  explicit ReduceReference(const ReducePlan& plan) : plan_(plan) {}
  std::string implementation() const override { return "naive"; }
  void Run(const KernelArgs& args) const noexcept override {
    ReduceLoop<T, Fold>(plan_, args.In<T>(0), args.Out<T>());
  }

 private:
  ReducePlan plan_;
};

template <class T, class Fold>
Result<std::unique_ptr<Kernel>> MakeReduceReference(const NodeSignature& signature,
                                                    const KernelOptions& /*options*/) {
  TINYPROF_ASSIGN_OR_RETURN(const ReducePlan plan, ReducePlanOf(signature));
  const DType dtype = signature.input(0).dtype;
  if constexpr (Fold::kIntegers) {
    if (dtype == DType::kInt32) return std::make_unique<ReduceReference<int32_t, Fold>>(plan);
    if (dtype == DType::kInt64) return std::make_unique<ReduceReference<int64_t, Fold>>(plan);
  }
  if (dtype != (std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64)) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                signature.node->op_type + " has no kernel for " + std::string(Name(dtype)));
  }
  return std::make_unique<ReduceReference<T, Fold>>(plan);
}

// ArgMax and ArgMin of floats and integers; one implementation for all backends.
Result<std::unique_ptr<Kernel>> MakeArgMinMaxKernel(const NodeSignature& signature,
                                                    const KernelOptions& options);

}  // namespace tinyprof
