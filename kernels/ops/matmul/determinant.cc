#include "kernels/ops/matmul/determinant.h"

#include <fmt/format.h>

#include <type_traits>

#include "kernels/ops/checks.h"
#include "kernels/ops/cost_math.h"

namespace tinyprof {
namespace {

int64_t SizeOf(const NodeSignature& signature) { return signature.input(0).shape.back(); }

template <class T>
class DetKernel final : public Kernel {
 public:
  explicit DetKernel(const NodeSignature& signature)
      : size_(SizeOf(signature)), count_(signature.output().shape.element_count()) {}
  std::string implementation() const override { return "naive"; }
  int64_t scratch_bytes() const override { return size_ * size_ * static_cast<int64_t>(sizeof(T)); }
  void Run(const KernelArgs& args) const noexcept override {
    auto* matrix = reinterpret_cast<T*>(args.scratch.data());
    for (int64_t i = 0; i < count_; ++i) {
      std::copy_n(args.In<T>(0) + i * size_ * size_, size_ * size_, matrix);
      args.Out<T>()[i] = DeterminantOf(size_, matrix);
    }
  }

 private:
  int64_t size_;
  int64_t count_;
};

}  // namespace

Result<std::vector<TensorType>> InferDet(const NodeSignature& signature, size_t output_count) {
  TINYPROF_RETURN_IF_ERROR(CheckOutputCount(signature, output_count, 1, 1));
  TINYPROF_RETURN_IF_ERROR(CheckFloatInput(signature, 0));
  TINYPROF_RETURN_IF_ERROR(CheckRank(signature, 0, 2));
  std::vector<int64_t> dims = signature.input(0).shape.dims();
  if (dims[dims.size() - 1] != dims[dims.size() - 2]) {
    return ShapeMismatch(signature, fmt::format("matrices of shape {} are not square",
                                                signature.input(0).shape.ToString()));
  }
  dims.resize(dims.size() - 2);
  return std::vector<TensorType>{{signature.input(0).dtype, Shape(std::move(dims))}};
}

Result<Cost> DetCost(const NodeSignature& signature) {
  const int64_t n = SizeOf(signature);
  if (n < 2) return Cost{};
  TINYPROF_ASSIGN_OR_RETURN(const int64_t six_times, CheckedProduct({n - 1, n, 2 * n - 1}));
  const FlopClasses classes{.mac = six_times / 6, .add_mul_div = n * (n - 1) / 2 + n - 1};
  TINYPROF_ASSIGN_OR_RETURN(Cost cost,
                            PerElementCost(classes, signature.output().shape.element_count()));
  cost.valid_tap_mac_count = cost.flops.mac;
  return cost;
}

template <class T>
Result<std::unique_ptr<Kernel>> MakeDet(const NodeSignature& signature,
                                        const KernelOptions& /*options*/) {
  constexpr DType kWanted = std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64;
  const DType dtype = signature.input(0).dtype;
  if (dtype == kWanted) return std::make_unique<DetKernel<T>>(signature);
  return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
              fmt::format("Det has no kernel for {}", Name(dtype)));
}
template Result<std::unique_ptr<Kernel>> MakeDet<float>(const NodeSignature& signature,
                                                        const KernelOptions& options);
template Result<std::unique_ptr<Kernel>> MakeDet<double>(const NodeSignature& signature,
                                                         const KernelOptions& options);

}  // namespace tinyprof
