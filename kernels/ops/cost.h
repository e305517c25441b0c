// What a node costs by formula. The convention: 1 MAC = 1 multiply + 1 add = 2 FLOPs; counts are
// for the whole invocation, batch included.
#pragma once

#include <cstdint>

namespace tinyprof {

// Operations by class. Every conventional FLOP count is a weighted sum of these.
struct FlopClasses {
  int64_t mac = 0;             // multiply-accumulates of matrix products and convolutions
  int64_t bias = 0;            // one add per output of an operator with a bias
  int64_t add_mul_div = 0;     // element-wise + - * /, sqrt, reciprocal
  int64_t minmax = 0;          // max, min, one side of a clip
  int64_t compare = 0;         // comparisons: weight 0
  int64_t transcendental = 0;  // exp, log, tanh, erf, pow: one each, whatever hardware runs for it
  int64_t reduction = 0;       // adds that fold n values into one: n - 1

  friend bool operator==(const FlopClasses&, const FlopClasses&) = default;
};

struct Cost {
  FlopClasses flops;
  // Of flops.mac, those that touch neither padding nor a masked (causal) position.
  int64_t valid_tap_mac_count = 0;
  // 2 per multiply-accumulate of integer matrix products; these are no FLOPs.
  int64_t int_op_count = 0;
  // Compulsory traffic: every operand once, by dtype.
  int64_t weight_bytes = 0;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;

  // 2*mac + bias + add_mul_div + minmax + transcendental + reduction.
  int64_t flop_count() const;
  int64_t compulsory_bytes() const { return weight_bytes + input_bytes + output_bytes; }
  // FLOPs per compulsory byte; 0 when nothing is moved.
  double arithmetic_intensity() const;

  Cost& operator+=(const Cost& other);
  friend bool operator==(const Cost&, const Cost&) = default;
};

}  // namespace tinyprof
