// Checks one operator: every kernel against the naive loop in double, every cost rule against the
// operations that the naive loop executes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/graph/graph.h"
#include "kernels/ops/cost.h"
#include "kernels/ops/onednn_kernels.h"
#include "kernels/ops/quantize/product_dims.h"
#include "kernels/ops/reference_kernel.h"
#include "kernels/tensor/shape.h"

namespace tinyprof {

// One node with its operands.
struct OpCase {
  struct In {
    TensorType type;
    Fill fill = Fill::Uniform(1, 0);
    bool is_weight = false;
    bool present = true;
  };

  std::string op_type;
  Attributes attributes;
  std::vector<In> inputs;
  size_t output_count = 1;
  // Floating-point outputs: |got - want| <= tolerance * (1 + |want|).
  double tolerance = 1e-5;
  // Longest sum of products behind an output, for operators that are dot products of non-negative
  // combinations. Above 0 the bound is instead the classic (n + 4) * 2^-23 * sum |a||b|, which the
  // naive loop itself gives when it is run on the absolute values of all operands and attributes.
  int64_t dot_length = 0;
  // False: floats have to be float32, and the truth is the naive kernel on the operands as they
  // are.
  bool widens = true;
  // The Eigen kernel has to exist; false: this case has the naive one only.
  bool has_eigen_kernel = true;
  // False: oneDNN has another result by its own rules, and its kernel is not checked.
  bool onednn_agrees = true;
  // How far integers of the oneDNN kernel may be from the truth.
  double onednn_steps = 0;
  // Of the oneDNN kernel.
  ConvAlgorithm conv_algorithm = ConvAlgorithm::kDirect;
};

// A float32 activation / weight of that shape, uniform in [-bound, bound).
OpCase::In Activation(Shape shape, double bound = 1);
OpCase::In WeightOf(Shape shape, double bound = 1);
// A float32 operand with these elements; `is_weight` makes it known before the run.
OpCase::In FloatsOf(Shape shape, const std::vector<float>& elements, bool is_weight = false);
// An int64 initializer with these elements, rank 1.
OpCase::In IntsOf(const std::vector<int64_t>& elements);
// An omitted optional input.
OpCase::In Omitted();

// Runs the operator in double (the truth), by the naive float kernel, by the Eigen kernel on every
// ISA of this machine and by the oneDNN kernel, if there is one, on the ISA that the environment
// variable TINYPROF_TEST_ONEDNN_ISA names (the best otherwise), each with 1 and 2 threads; checks
// values, that all outputs are written and
// nothing beyond them or the scratch, and that a second run gives the same bytes. Integer and bool
// outputs have to be equal.
void CheckOp(const OpCase& op_case);

// oneDNN keeps one ISA for the life of a process: the one that TINYPROF_TEST_ONEDNN_ISA names, or
// the best where this machine has not got that.
Isa TestedOnednnIsa();
// What oneDNN calls its kernel for the node; empty where it has none. For tests that want one.
std::string OnednnImplementation(const OpCase& op_case);

// Runs `counted` (the family's loop on the scalar Counted) and compares what it executed with
// CostOf(): all FLOPs, and by class what can be told apart: transcendental and minmax.
enum class Executes {
  kAllTaps,    // also products with padding and masked positions
  kValidTaps,  // only cost.valid_tap_mac_count of the multiply-accumulates
};
void CheckCounts(const OpCase& op_case, ReferenceFn counted,
                 Executes executes = Executes::kAllTaps);

// The same for a product of 8-bit integers: `counted` is the loop of the product that `roles` finds
// in the node, and executes all of int_op_count but `skipped`, of taps on padding.
void CheckIntOps(const OpCase& op_case, const ProductRoles& roles, ReferenceFn counted,
                 int64_t skipped = 0);

// The outputs of the truth, widened to double (integers too), for checks against closed forms.
std::vector<std::vector<double>> TrueOutputs(const OpCase& op_case);

// The inferred types, or the error, of the node.
Result<std::vector<TensorType>> InferCase(const OpCase& op_case);
// Why the node is refused; fails the test and returns an empty error when it is not.
Error RefusalOf(const OpCase& op_case);
// The cost; fails the test and returns zeros when the node is refused.
Cost CostOfCase(const OpCase& op_case);

}  // namespace tinyprof
