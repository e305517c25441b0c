// Einsum on Eigen: the sum of products of two operands as a batched matrix product.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/einsum/einsum.h"
#include "kernels/ops/elementwise/broadcast.h"
#include "kernels/ops/elementwise/eigen_rows.h"
#include "kernels/ops/matmul/eigen_product.h"
#include "kernels/ops/partition.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

// Letters and how far a step along each moves.
struct Walk {
  std::vector<int64_t> lengths;
  std::vector<int64_t> strides;

  void Add(int64_t length, int64_t stride) {
    lengths.push_back(length);
    strides.push_back(stride);
  }
  void Add(const Walk& other) {
    lengths.insert(lengths.end(), other.lengths.begin(), other.lengths.end());
    strides.insert(strides.end(), other.strides.begin(), other.strides.end());
  }
  int64_t count() const {
    int64_t product = 1;
    for (const int64_t length : lengths) product *= length;
    return product;
  }
};

// The letters of an equation by what they are to the product: in both operands and the output
// (batch), in one operand and the output (rows, columns), in both operands only (depth).
struct Contraction {
  Walk batch_a, batch_b, rows, columns, depth_a, depth_b;
  Walk output;  // the letters of the output, in the product batch x rows x columns
};

bool IsIn(const EinsumPlan& plan, size_t operand, size_t letter) {
  return plan.strides[operand][letter] != 0;
}

// False where a letter is summed over in one operand alone.
bool Sort(const EinsumPlan& plan, Contraction& sorted) {
  for (size_t i = 0; i < plan.kept.size() + plan.summed.size(); ++i) {
    const bool is_kept = i < plan.kept.size();
    const int64_t length = is_kept ? plan.kept[i] : plan.summed[i - plan.kept.size()];
    if (length == 1) continue;
    const bool in_a = IsIn(plan, 0, i);
    const bool in_b = IsIn(plan, 1, i);
    if (in_a && in_b) {
      (is_kept ? sorted.batch_a : sorted.depth_a).Add(length, plan.strides[0][i]);
      (is_kept ? sorted.batch_b : sorted.depth_b).Add(length, plan.strides[1][i]);
    } else if (!is_kept) {
      return false;
    } else {
      (in_a ? sorted.rows : sorted.columns).Add(length, plan.strides[in_a ? 0 : 1][i]);
    }
  }
  return true;
}

// Where the product batch x rows x columns has the elements of the output, letter by letter.
Walk OutputOf(const EinsumPlan& plan, const Contraction& sorted) {
  const auto strides_of = [](const Walk& walk, int64_t stride) {
    std::vector<int64_t> strides(walk.lengths.size());
    for (size_t d = strides.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= walk.lengths[d];
    }
    return strides;
  };
  const int64_t columns = sorted.columns.count();
  std::array<std::vector<int64_t>, 3> strides = {
      strides_of(sorted.batch_a, sorted.rows.count() * columns), strides_of(sorted.rows, columns),
      strides_of(sorted.columns, 1)};
  std::array<size_t, 3> next{};
  Walk output;
  for (size_t i = 0; i < plan.kept.size(); ++i) {
    if (plan.kept[i] == 1) continue;
    const size_t kind = !IsIn(plan, 1, i) ? 1 : !IsIn(plan, 0, i) ? 2 : 0;
    output.Add(plan.kept[i], strides[kind][next[kind]++]);
  }
  return output;
}

// Elements walked in another order than they lie, written one after the other.
class Rearrangement {
 public:
  Rearrangement() = default;
  Rearrangement(const Walk& walk, int threads)
      : plan_(PlanStrided(walk.lengths, walk.strides)),
        threads_(ThreadsFor(plan_.element_count, threads)) {}

  // Whether they lie so already.
  bool is_identity() const { return plan_.rank == 1 && plan_.inner_stride(0) == 1; }
  int64_t count() const { return plan_.element_count; }

  void Run(const float* from, float* to) const {
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (int thread = 0; thread < threads_; ++thread) {
      const Partition part = PartOf(plan_.element_count, thread, threads_);
      ForEachRow(plan_, part.begin, part.end, [&](const BroadcastRow& row) {
        const int64_t stride = plan_.inner_stride(0);
        const float* source = from + row.offsets[0];
        float* __restrict target = to + row.begin;
        if (stride == 1) {
          std::copy_n(source, row.length, target);
        } else {
          for (int64_t i = 0; i < row.length; ++i) target[i] = source[i * stride];
        }
      });
    }
  }

 private:
  BroadcastPlan plan_;
  int threads_ = 1;
};

class EinsumProduct final : public Kernel {
 public:
  EinsumProduct(const Rearrangement& a, const Rearrangement& b, const Rearrangement& output,
                BatchedProduct product)
      : a_(a), b_(b), output_(output), product_(std::move(product)) {}
  std::string implementation() const override {
    const bool moves = !a_.is_identity() || !b_.is_identity() || !output_.is_identity();
    return moves ? product_.implementation() + ", transposed" : product_.implementation();
  }
  int64_t scratch_bytes() const override {
    return BytesOf(a_) + BytesOf(b_) + BytesOf(output_) + product_.scratch_bytes();
  }

  void Run(const KernelArgs& args) const noexcept override {
    std::byte* scratch = args.scratch.data();
    const float* a = Arranged(a_, args.In<float>(0), scratch);
    const float* b = Arranged(b_, args.In<float>(1), scratch);
    auto* c = output_.is_identity() ? args.Out<float>() : reinterpret_cast<float*>(scratch);
    scratch += BytesOf(output_);
    const auto used = static_cast<size_t>(scratch - args.scratch.data());
    product_.Run(a, b, c, args.scratch.subspan(used));
    if (!output_.is_identity()) output_.Run(c, args.Out<float>());
  }

 private:
  static int64_t BytesOf(const Rearrangement& rearrangement) {
    if (rearrangement.is_identity()) return 0;
    constexpr int64_t kAlignment = 64;
    const int64_t bytes = rearrangement.count() * int64_t{sizeof(float)};
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  // The operand in the product's order; takes what it needs of the scratch.
  static const float* Arranged(const Rearrangement& rearrangement, const float* given,
                               std::byte*& scratch) {
    if (rearrangement.is_identity()) return given;
    auto* arranged = reinterpret_cast<float*>(scratch);
    rearrangement.Run(given, arranged);
    scratch += BytesOf(rearrangement);
    return arranged;
  }

  Rearrangement a_;
  Rearrangement b_;
  Rearrangement output_;
  BatchedProduct product_;
};

tl::unexpected<Error> NoKernel() {
  return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
              "the Eigen backend has no kernel for an Einsum that is no product of matrices");
}

Result<std::unique_ptr<Kernel>> MakeEinsum(const NodeSignature& signature,
                                           const KernelOptions& options) {
  TINYPROF_RETURN_IF_ERROR(RequireFloat32(signature));
  TINYPROF_ASSIGN_OR_RETURN(const EinsumPlan plan, EinsumPlanOf(signature));
  Contraction sorted;
  const bool is_empty = plan.kept_count() == 0 || plan.summed_count() == 0;
  if (plan.strides.size() != 2 || is_empty || !Sort(plan, sorted)) return NoKernel();
  Walk a = sorted.batch_a;
  a.Add(sorted.rows);
  a.Add(sorted.depth_a);
  Walk b = sorted.batch_b;
  b.Add(sorted.depth_b);
  b.Add(sorted.columns);
  const Walk output = OutputOf(plan, sorted);
  for (const Walk* walk : std::array<const Walk*, 3>{&a, &b, &output}) {
    if (walk->lengths.size() > kMaxRank) return NoKernel();
  }
  TINYPROF_ASSIGN_OR_RETURN(
      BatchedProduct product,
      BatchedProduct::Create(sorted.batch_a.count(), sorted.rows.count(), sorted.columns.count(),
                             sorted.depth_a.count(), options.threads));
  return std::make_unique<EinsumProduct>(
      Rearrangement(a, options.threads), Rearrangement(b, options.threads),
      Rearrangement(output, options.threads), std::move(product));
}

constexpr std::array kKernels = {EigenKernel{"Einsum", MakeEinsum}};

}  // namespace

std::span<const EigenKernel> EinsumEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
