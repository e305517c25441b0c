// Compares what a model gave with what it should give. Pure functions.
#pragma once

#include <string>

#include "daemon/model/tensor_proto.h"
#include "kernels/tensor/buffer.h"
#include "tinyprof/v1/service.pb.h"

namespace tinyprof {

struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

// Element-wise: |got - want| <= absolute + relative |want|; NaN equals NaN, an infinity itself
// only. The worst element is the one whose error is the most times what is allowed. Errors stay
// absent, and `note` says why, when types differ.
v1::VerifiedOutput CompareTensors(const std::string& name, const ConstTensorView& got,
                                  const TensorData& want, const Tolerance& tolerance);

}  // namespace tinyprof
