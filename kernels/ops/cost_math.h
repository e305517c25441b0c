// Operation counts per element, times the number of elements, with overflow as an error.
#pragma once

#include "kernels/base/checked_math.h"
#include "kernels/ops/cost.h"

namespace tinyprof {

// `classes` times `count`; OUT_OF_RANGE / "OVERFLOW" when one passes 2^63.
inline Result<FlopClasses> Scaled(FlopClasses classes, int64_t count) {
  for (int64_t* field : {&classes.mac, &classes.bias, &classes.add_mul_div, &classes.minmax,
                         &classes.compare, &classes.transcendental, &classes.reduction}) {
    TINYPROF_ASSIGN_OR_RETURN(*field, CheckedMul(*field, count));
  }
  return classes;
}

// The cost of an operator that is no matrix product: `classes` for each of `count` elements.
inline Result<Cost> PerElementCost(const FlopClasses& classes, int64_t count) {
  Cost cost;
  TINYPROF_ASSIGN_OR_RETURN(cost.flops, Scaled(classes, count));
  return cost;
}

}  // namespace tinyprof
