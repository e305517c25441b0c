// The recurrent cells on Eigen: the inputs of all steps are multiplied at once, then each step
// multiplies the state and finishes its gates.
#include <Eigen/Core>
#include <algorithm>
#include <array>

#include "kernels/ops/eigen_families.h"
#include "kernels/ops/matmul/eigen_gemm.h"
#include "kernels/ops/partition.h"
#include "kernels/ops/recurrent/eigen_cells.h"
#include "kernels/ops/recurrent/recurrent.h"
#include "kernels/ops/recurrent/reference.h"

namespace tinyprof::TINYPROF_ISA_NAMESPACE {
namespace {

using Operands = DirectionOperands<float>;

constexpr int64_t kLineFloats = 16;  // a cache line

int64_t WholeLines(int64_t floats) {
  return (floats + kLineFloats - 1) / kLineFloats * kLineFloats;
}

// out += state * R^T for some rows of R; a batch of 1 streams R without packing it.
class StateProduct {
 public:
  StateProduct(const RecurrentDims& dims, int64_t rows, int threads)
      : batch_(dims.batch),
        hidden_(dims.hidden),
        rows_(rows),
        gemm_({dims.batch, rows, dims.hidden}, threads) {}
  int64_t scratch_bytes() const { return batch_ == 1 ? 0 : gemm_.scratch_bytes(); }
  void Add(const float* state, const float* r, float* out, int64_t out_stride,
           std::byte* scratch) const {
    if (batch_ == 1) {
      Gemv(rows_, hidden_, state, {r, hidden_, true}, out, 1);
    } else {
      gemm_.Run({state, hidden_, false}, {r, hidden_, true}, out, out_stride, 1, Update::kAdd,
                scratch);
    }
  }

 private:
  int64_t batch_;
  int64_t hidden_;
  int64_t rows_;
  TeamGemm gemm_;
};

// What Run keeps in scratch.
struct Workspace {
  float* gates = nullptr;  // [steps, batch, gates * hidden]
  float* state = nullptr;  // [batch, hidden]
  float* cell = nullptr;
  float* extra = nullptr;  // GRU: what stands in for the state, or comes from it
  std::byte* packing = nullptr;
};

template <Cell kCell>
class RecurrentKernel final : public Kernel {
 public:
  RecurrentKernel(const NodeSignature& signature, const KernelOptions& options)
      : dims_(RecurrentDimsOf(signature, kCell)),
        row_threads_(ThreadsFor(dims_.batch * dims_.gate_width(), options.threads)),
        input_product_({dims_.steps * dims_.batch, dims_.gate_width(), dims_.input},
                       options.threads),
        // A GRU's candidate is a product of its own.
        state_product_(dims_, kCell == Cell::kGru ? 2 * dims_.hidden : dims_.gate_width(),
                       options.threads),
        candidate_product_(dims_, dims_.hidden, options.threads) {}
  std::string implementation() const override { return "gemm per step"; }

  int64_t scratch_bytes() const override {
    const int64_t packing =
        std::max({input_product_.scratch_bytes(), state_product_.scratch_bytes(),
                  candidate_product_.scratch_bytes()});
    return (WholeLines(gates_size()) + 3 * WholeLines(dims_.state_size())) *
               static_cast<int64_t>(sizeof(float)) +
           packing;
  }

  void Run(const KernelArgs& args) const noexcept override {
    const Workspace work = WorkspaceIn(args.scratch.data());
    for (int64_t direction = 0; direction < dims_.directions; ++direction) {
      const Operands operands = OperandsOf<float>(dims_, args, direction);
      MultiplyInputs(operands, work);
      CopyOrClear(operands.initial_hidden, dims_.state_size(), work.state);
      CopyOrClear(operands.initial_cell, dims_.state_size(), work.cell);
      for (int64_t step = 0; step < dims_.steps; ++step) {
        const int64_t time = dims_.time_of(direction, step);
        Step(operands, work, work.gates + time * dims_.batch * dims_.gate_width());
        if (operands.y == nullptr) continue;
        std::copy_n(work.state, dims_.state_size(),
                    operands.y + time * dims_.directions * dims_.state_size());
      }
      CopyIfWanted<float>(work.state, dims_.state_size(), operands.last_hidden);
      CopyIfWanted<float>(work.cell, dims_.state_size(), operands.last_cell);
    }
  }

 private:
  int64_t gates_size() const { return dims_.steps * dims_.batch * dims_.gate_width(); }
  bool resets_product() const { return kCell == Cell::kGru && dims_.linear_before_reset; }

  Workspace WorkspaceIn(std::byte* scratch) const {
    Workspace work;
    work.gates = reinterpret_cast<float*>(scratch);
    work.state = work.gates + WholeLines(gates_size());
    work.cell = work.state + WholeLines(dims_.state_size());
    work.extra = work.cell + WholeLines(dims_.state_size());
    work.packing = reinterpret_cast<std::byte*>(work.extra + WholeLines(dims_.state_size()));
    return work;
  }

  // gates = X W^T + biases, of all steps. Where the reset gate scales R h + bias, the candidate's
  // second bias belongs to that product.
  void MultiplyInputs(const Operands& operands, const Workspace& work) const {
    const int64_t width = dims_.gate_width();
    const int64_t rows = dims_.steps * dims_.batch;
    const int64_t both = resets_product() ? 2 * dims_.hidden : width;
    for (int64_t row = 0; row < rows; ++row) {
      float* gates = work.gates + row * width;
      CopyOrClear(operands.input_bias, width, gates);
      if (operands.hidden_bias != nullptr) {
        FloatRow(gates, both) += ConstFloatRow(operands.hidden_bias, both);
      }
    }
    input_product_.Run({operands.x, dims_.input, false}, {operands.w, dims_.input, true},
                       work.gates, width, 1, Update::kAdd, work.packing);
  }

  // Calls finish(gates, state, cell, extra) of each batch element.
  template <class Finish>
  void EachElement(const Workspace& work, float* gates, Finish finish) const {
#pragma omp parallel for num_threads(row_threads_)
    for (int64_t n = 0; n < dims_.batch; ++n) {
      finish(gates + n * dims_.gate_width(), work.state + n * dims_.hidden,
             work.cell + n * dims_.hidden, work.extra + n * dims_.hidden);
    }
  }

  void Step(const Operands& operands, const Workspace& work, float* gates) const {
    state_product_.Add(work.state, operands.r, gates, dims_.gate_width(), work.packing);
    if constexpr (kCell == Cell::kGru) AddCandidate(operands, work, gates);
    EachElement(work, gates, [this](float* row, float* state, float* cell, float*) {
      if constexpr (kCell == Cell::kRnn) FinishRnn(row, dims_.hidden, state);
      if constexpr (kCell == Cell::kGru) FinishGru(row, dims_.hidden, state);
      if constexpr (kCell == Cell::kLstm) FinishLstm(row, dims_.hidden, state, cell);
    });
  }

  // The state's part of a GRU's candidate.
  void AddCandidate(const Operands& operands, const Workspace& work, float* gates) const {
    const int64_t hidden = dims_.hidden;
    const float* r = operands.r + 2 * hidden * hidden;
    if (!dims_.linear_before_reset) {
      EachElement(work, gates, [hidden](float* row, float* state, float*, float* extra) {
        ResetState(row, hidden, state, extra);
      });
      candidate_product_.Add(work.extra, r, gates + 2 * hidden, dims_.gate_width(), work.packing);
      return;
    }
    const float* bias =
        operands.hidden_bias == nullptr ? nullptr : operands.hidden_bias + 2 * hidden;
    for (int64_t n = 0; n < dims_.batch; ++n) CopyOrClear(bias, hidden, work.extra + n * hidden);
    candidate_product_.Add(work.state, r, work.extra, hidden, work.packing);
    EachElement(work, gates, [hidden](float* row, float*, float*, float* extra) {
      AddReset(extra, hidden, row);
    });
  }

  RecurrentDims dims_;
  int row_threads_;
  TeamGemm input_product_;
  StateProduct state_product_;
  StateProduct candidate_product_;
};

template <Cell cell>
Result<std::unique_ptr<Kernel>> MakeRecurrent(const NodeSignature& signature,
                                              const KernelOptions& options) {
  constexpr size_t kLengths = 4, kPeepholes = 7;
  if (signature.has_input(kLengths) || signature.has_input(kPeepholes) ||
      signature.has_attribute("clip")) {
    return Fail(ErrorCode::kUnimplemented, "NO_KERNEL",
                "the Eigen backend takes whole sequences, no peepholes and no clip");
  }
  return MakeFloatKernel<RecurrentKernel<cell>>(signature, options);
}

constexpr std::array kKernels = {
    EigenKernel{"RNN", &MakeRecurrent<Cell::kRnn>},
    EigenKernel{"GRU", &MakeRecurrent<Cell::kGru>},
    EigenKernel{"LSTM", &MakeRecurrent<Cell::kLstm>},
};

}  // namespace

std::span<const EigenKernel> RecurrentEigenKernels() { return kKernels; }

}  // namespace tinyprof::TINYPROF_ISA_NAMESPACE
