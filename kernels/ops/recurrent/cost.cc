#include "kernels/ops/recurrent/cost.h"

#include "kernels/ops/cost_math.h"

namespace tinyprof {
namespace {

// Per hidden unit, without products and biases.
FlopClasses PerUnit(const RecurrentDims& dims, Cell cell) {
  switch (cell) {
    case Cell::kRnn:
      return {.transcendental = 1};
    case Cell::kGru:
      return {.add_mul_div = dims.linear_before_reset ? 10 : 9, .transcendental = 3};
    case Cell::kLstm:
      return {.add_mul_div = 10, .transcendental = 5};
  }
  return {};
}

}  // namespace

Result<Cost> CellCost(const RecurrentDims& dims, Cell cell, bool has_bias, bool has_peepholes) {
  FlopClasses unit = PerUnit(dims, cell);
  unit.bias = has_bias ? 2 * dims.gates : 0;
  if (dims.clip > 0) unit.minmax = 2 * dims.gates;
  if (has_peepholes) unit.add_mul_div += 6;
  TINYPROF_ASSIGN_OR_RETURN(const int64_t width, CheckedAdd(dims.input, dims.hidden));
  TINYPROF_ASSIGN_OR_RETURN(unit.mac, CheckedMul(dims.gates, width));
  TINYPROF_ASSIGN_OR_RETURN(const int64_t units,
                            CheckedProduct({dims.directions, dims.steps, dims.batch, dims.hidden}));
  TINYPROF_ASSIGN_OR_RETURN(Cost cost, PerElementCost(unit, units));
  cost.valid_tap_mac_count = cost.flops.mac;
  return cost;
}

}  // namespace tinyprof
