// The naive loop of Attention, as a template on the scalar: every score of the square is worked
// out, also those that a causal query then does not see.
#pragma once

#include <limits>
#include <memory>

#include "kernels/ops/attention/attention.h"
#include "kernels/ops/checks.h"
#include "kernels/ops/kernel.h"
#include "kernels/ops/softmax/reference.h"

namespace tinyprof {

// One query row; `scores` has room for dims.keys elements. q points at the query; k, v at the first
// key and value of its head; mask at the row of the mask, or is null.
template <class T>
void AttendRow(const AttentionDims& dims, int64_t query, const T* q, const T* k, const T* v,
               const T* mask, T* scores, T* y) {
  for (int64_t key = 0; key < dims.keys; ++key) {
    T dot = T(0);
    for (int64_t c = 0; c < dims.depth; ++c) dot += q[c] * k[key * dims.k.row + c];
    scores[key] = dot * T(dims.scale);
    if (mask != nullptr) scores[key] += mask[key * dims.mask_strides[3]];
    if (key >= dims.visible_keys(query)) scores[key] = -std::numeric_limits<float>::infinity();
  }
  SoftmaxRow(scores, scores, dims.keys, 1);
  for (int64_t c = 0; c < dims.value_depth; ++c) {
    T sum = T(0);
    for (int64_t key = 0; key < dims.keys; ++key) sum += scores[key] * v[key * dims.v.row + c];
    y[c] = sum;
  }
}

template <class T>
void AttentionLoop(const AttentionDims& dims, const KernelArgs& args, T* scores) {
  for (int64_t b = 0; b < dims.batch; ++b) {
    for (int64_t h = 0; h < dims.heads; ++h) {
      for (int64_t i = 0; i < dims.queries; ++i) {
        const T* mask = args.has_input(3) ? args.In<T>(3) + dims.mask_offset(b, h, i) : nullptr;
        AttendRow(dims, i, args.In<T>(0) + dims.q_offset(b, h) + i * dims.q.row,
                  args.In<T>(1) + dims.k_offset(b, h), args.In<T>(2) + dims.v_offset(b, h), mask,
                  scores, args.Out<T>() + dims.y_offset(b, h) + i * dims.y.row);
      }
    }
  }
}

template <class T>
class AttentionReference final : public Kernel {
 public:
  explicit AttentionReference(const NodeSignature& signature) : dims_(AttentionDimsOf(signature)) {}
  std::string implementation() const override { return "naive"; }
  int64_t scratch_bytes() const override { return dims_.keys * static_cast<int64_t>(sizeof(T)); }
  void Run(const KernelArgs& args) const noexcept override {
    AttentionLoop(dims_, args, reinterpret_cast<T*>(args.scratch.data()));
  }

 private:
  AttentionDims dims_;
};

template <class T>
Result<std::unique_ptr<Kernel>> MakeAttentionReference(const NodeSignature& signature,
                                                       const KernelOptions& /*options*/) {
  constexpr DType kWanted = sizeof(T) == sizeof(float) ? DType::kFloat32 : DType::kFloat64;
  if (signature.input(0).dtype != kWanted) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                "Attention has no kernel for " + std::string(Name(signature.input(0).dtype)));
  }
  return std::make_unique<AttentionReference<T>>(signature);
}

}  // namespace tinyprof
