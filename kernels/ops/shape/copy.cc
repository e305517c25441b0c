#include "kernels/ops/shape/copy.h"

#include <cstring>

#include "kernels/ops/partition.h"

namespace tinyprof {
namespace {

class CopyKernel final : public Kernel {
 public:
  CopyKernel(int64_t byte_count, int64_t element_count, int threads)
      : byte_count_(byte_count), threads_(ThreadsFor(element_count, threads)) {}
  std::string implementation() const override { return "copy"; }
  void Run(const KernelArgs& args) const noexcept override {
#pragma omp parallel for num_threads(threads_)
    for (int part = 0; part < threads_; ++part) {
      const Partition range = PartOf(byte_count_, part, threads_);
      if (range.begin == range.end) continue;
      std::memcpy(args.Out<std::byte>() + range.begin, args.In<std::byte>(0) + range.begin,
                  static_cast<size_t>(range.end - range.begin));
    }
  }

 private:
  int64_t byte_count_;
  int threads_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeCopyKernel(const NodeSignature& signature,
                                               const KernelOptions& options) {
  const TensorType& type = signature.output();
  return std::make_unique<CopyKernel>(type.byte_size(), type.shape.element_count(),
                                      options.threads);
}

}  // namespace tinyprof
