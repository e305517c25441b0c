#include "kernels/ops/cost.h"

namespace tinyprof {

int64_t Cost::flop_count() const {
  return 2 * flops.mac + flops.bias + flops.add_mul_div + flops.minmax + flops.transcendental +
         flops.reduction;
}

double Cost::arithmetic_intensity() const {
  const int64_t bytes = compulsory_bytes();
  return bytes == 0 ? 0.0 : static_cast<double>(flop_count()) / static_cast<double>(bytes);
}

Cost& Cost::operator+=(const Cost& other) {
  flops.mac += other.flops.mac;
  flops.bias += other.flops.bias;
  flops.add_mul_div += other.flops.add_mul_div;
  flops.minmax += other.flops.minmax;
  flops.compare += other.flops.compare;
  flops.transcendental += other.flops.transcendental;
  flops.reduction += other.flops.reduction;
  valid_tap_mac_count += other.valid_tap_mac_count;
  int_op_count += other.int_op_count;
  weight_bytes += other.weight_bytes;
  input_bytes += other.input_bytes;
  output_bytes += other.output_bytes;
  return *this;
}

}  // namespace tinyprof
