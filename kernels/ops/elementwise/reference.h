// The naive loops of the element-wise operators, as templates on the floating-point scalar. Integer
// operands, where an operator takes them, are worked on in their own type.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/graph/graph.h"
#include "kernels/ops/elementwise/binary_functors.h"
#include "kernels/ops/elementwise/broadcast.h"
#include "kernels/ops/elementwise/unary_functors.h"
#include "kernels/ops/kernel.h"

namespace tinyprof {

// visit(std::type_identity<E>()) with E the C++ type of `dtype`: T for floats. Only the types that
// arithmetic operators take.
template <class T, class Visit>
void VisitArithmetic(DType dtype, Visit visit) {
  if (dtype == DType::kInt64) {
    visit(std::type_identity<int64_t>());
  } else if (dtype == DType::kInt32) {
    visit(std::type_identity<int32_t>());
  } else {
    visit(std::type_identity<T>());
  }
}

template <class Op>
Coefficients CoefficientsOf(const NodeSignature& signature) {
  return {.alpha = signature.Float(Op::kNames[0], Op::kDefaults.alpha),
          .beta = signature.Float(Op::kNames[1], Op::kDefaults.beta)};
}

template <class T, class Op>
void UnaryReference(const NodeSignature& signature, const KernelArgs& args) {
  const Coefficients coefficients = CoefficientsOf<Op>(signature);
  const int64_t count = signature.output().shape.element_count();
  const auto loop = [&]<class E>(std::type_identity<E>) {
    const E* x = args.In<E>(0);
    E* y = args.Out<E>();
    for (int64_t i = 0; i < count; ++i) y[i] = Op::Apply(x[i], coefficients);
  };
  if constexpr (Op::kIntegers) {
    VisitArithmetic<T>(signature.output().dtype, loop);
  } else {
    loop(std::type_identity<T>());
  }
}

inline bool UsesTanh(const NodeSignature& signature) {
  return signature.String("approximate", "none") == "tanh";
}

template <class T>
void GeluReference(const NodeSignature& signature, const KernelArgs& args) {
  UsesTanh(signature) ? UnaryReference<T, GeluTanh>(signature, args)
                      : UnaryReference<T, GeluErf>(signature, args);
}

// out[i] = Op(a, b) with both broadcast to the shape of `out`.
template <class Op, class E, class Out>
void BinaryLoop(const Shape& shape, const Shape& a_shape, const E* a, const Shape& b_shape,
                const E* b, Out* out) {
  const BroadcastPlan plan = PlanBroadcast(shape, {&a_shape, &b_shape});
  ForEachRow(plan, 0, plan.element_count, [&](const BroadcastRow& row) {
    const E* row_a = a + row.offsets[0];
    const E* row_b = b + row.offsets[1];
    for (int64_t i = 0; i < row.length; ++i) {
      out[row.begin + i] = static_cast<Out>(
          Op::Apply(row_a[i * plan.inner_stride(0)], row_b[i * plan.inner_stride(1)]));
    }
  });
}

// Folds all inputs into the output, two or more at a time from the left: Add, ..., Max of many.
template <class T, class Op>
void FoldReference(const NodeSignature& signature, const KernelArgs& args) {
  const Shape& shape = signature.output().shape;
  const int64_t count = shape.element_count();
  VisitArithmetic<T>(signature.output().dtype, [&]<class E>(std::type_identity<E>) {
    E* out = args.Out<E>();
    if (args.inputs.size() == 1) {
      for (int64_t i = 0; i < count; ++i) out[i] = args.In<E>(0)[i];
      return;
    }
    BinaryLoop<Op>(shape, signature.input(0).shape, args.In<E>(0), signature.input(1).shape,
                   args.In<E>(1), out);
    for (size_t k = 2; k < args.inputs.size(); ++k) {
      BinaryLoop<Op>(shape, shape, static_cast<const E*>(out), signature.input(k).shape,
                     args.In<E>(k), out);
    }
  });
}

// Mean of all inputs.
template <class T>
void MeanReference(const NodeSignature& signature, const KernelArgs& args) {
  FoldReference<T, MeanOfAll>(signature, args);
  const T divisor = T(static_cast<double>(args.inputs.size()));
  const int64_t count = signature.output().shape.element_count();
  for (int64_t i = 0; i < count; ++i) args.Out<T>()[i] /= divisor;
}

template <class T>
void ModReference(const NodeSignature& signature, const KernelArgs& args) {
  signature.Int("fmod", 0) != 0 ? FoldReference<T, TruncatedMod>(signature, args)
                                : FoldReference<T, Mod>(signature, args);
}

template <class T>
void BitShiftReference(const NodeSignature& signature, const KernelArgs& args) {
  signature.String("direction", "") == "LEFT" ? FoldReference<T, ShiftLeft>(signature, args)
                                              : FoldReference<T, ShiftRight>(signature, args);
}

// IsNaN and IsInf; the latter of one sign only where an attribute excludes the other.
template <class T>
void IsNanReference(const NodeSignature& signature, const KernelArgs& args) {
  const int64_t count = signature.output().shape.element_count();
  const T* x = args.In<T>(0);
  for (int64_t i = 0; i < count; ++i) args.Out<uint8_t>()[i] = x[i] != x[i];
}
template <class T>
void IsInfReference(const NodeSignature& signature, const KernelArgs& args) {
  const int64_t count = signature.output().shape.element_count();
  const T infinity = std::numeric_limits<T>::infinity();
  const bool negative = signature.Int("detect_negative", 1) != 0;
  const bool positive = signature.Int("detect_positive", 1) != 0;
  const T* x = args.In<T>(0);
  for (int64_t i = 0; i < count; ++i) {
    args.Out<uint8_t>()[i] = (positive && x[i] == infinity) || (negative && x[i] == -infinity);
  }
}

// PRelu, which takes floats only.
template <class T, class Op>
void FloatBinaryReference(const NodeSignature& signature, const KernelArgs& args) {
  BinaryLoop<Op>(signature.output().shape, signature.input(0).shape, args.In<T>(0),
                 signature.input(1).shape, args.In<T>(1), args.Out<T>());
}

template <class T, class Op>
void CompareReference(const NodeSignature& signature, const KernelArgs& args) {
  const auto loop = [&]<class E>(std::type_identity<E>) {
    BinaryLoop<Op>(signature.output().shape, signature.input(0).shape, args.In<E>(0),
                   signature.input(1).shape, args.In<E>(1), args.Out<uint8_t>());
  };
  const DType dtype = signature.input(0).dtype;
  if (dtype == DType::kBool) {
    loop(std::type_identity<uint8_t>());
  } else {
    VisitArithmetic<T>(dtype, loop);
  }
}

template <class Op>
void LogicalReference(const NodeSignature& signature, const KernelArgs& args) {
  BinaryLoop<Op>(signature.output().shape, signature.input(0).shape, args.In<uint8_t>(0),
                 signature.input(1).shape, args.In<uint8_t>(1), args.Out<uint8_t>());
}

inline void NotReference(const NodeSignature& signature, const KernelArgs& args) {
  const int64_t count = signature.output().shape.element_count();
  for (int64_t i = 0; i < count; ++i) args.Out<uint8_t>()[i] = args.In<uint8_t>(0)[i] == 0;
}

// The bounds of Clip are one-element inputs 1 and 2, or attributes "min" and "max" (opset 6).
template <class T>
void ClipReference(const NodeSignature& signature, const KernelArgs& args) {
  const int64_t count = signature.output().shape.element_count();
  VisitArithmetic<T>(signature.output().dtype, [&]<class E>(std::type_identity<E>) {
    const bool has_min = args.has_input(1) || signature.has_attribute("min");
    const bool has_max = args.has_input(2) || signature.has_attribute("max");
    const E low = args.has_input(1) ? *args.In<E>(1) : static_cast<E>(signature.Float("min", 0));
    const E high = args.has_input(2) ? *args.In<E>(2) : static_cast<E>(signature.Float("max", 0));
    for (int64_t i = 0; i < count; ++i) {
      E y = args.In<E>(0)[i];
      if (has_min) y = Max(y, low);
      if (has_max) y = Min(y, high);
      args.Out<E>()[i] = y;
    }
  });
}

}  // namespace tinyprof
