// What the rules of advice look at, read from the layers of a report.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "daemon/roofline/advice.h"
#include "kernels/tensor/dtype.h"
#include "tinyprof/v1/run.pb.h"

namespace tinyprof {

// The data flow between the layers of a report, by the names of tensors. Keeps no reference to it.
class DataFlow {
 public:
  explicit DataFlow(const v1::RunReport& report);

  // Bytes of the layer's inputs that one earlier layer makes for this one only.
  int64_t FusableInputBytes(const v1::LayerAnalysis& layer) const;
  // Bytes of the layer's inputs that no layer makes: those of the network.
  int64_t GivenInputBytes(const v1::LayerAnalysis& layer) const;

 private:
  struct Tensor {
    bool made_by_layer = false;
    int use_count = 0;  // by layers, and by the model's outputs
  };
  std::map<std::string, Tensor, std::less<>> tensors_;
};

// Whether the operator computes each output element from one element of each input.
bool IsElementwise(const std::string& op);

// The dtype that the layer computes in: that of its first floating-point tensor, outputs first;
// float32 when it has none.
DType ComputeDType(const v1::LayerAnalysis& layer);

// Whether the layer has so much work that its kernel shares it among the threads of the team
// (kernels/ops/partition.h), by the count that most kernels of this backend go by: products of a
// matrix or a convolution in sixteens, else elements of the output.
bool IsShared(const v1::LayerReport& layer);

// Whether its kernel convolves by Winograd's algorithm, by the name of oneDNN's kernels
// ("jit_wino:avx512_core").
bool IsWinograd(const v1::LayerReport& layer);

// What starting the layer takes when it has no work, of what the run measured; absent when it did
// not. The kernels of oneDNN and the naive ones decide on threads by themselves, also without work.
std::optional<double> DispatchNs(const v1::LayerReport& layer, const v1::Overhead& overhead);

// Facts of a layer that has a cost; the fields about threads and starting are left to the caller.
LayerFacts FactsOf(const v1::LayerReport& layer, const DataFlow& flow);

}  // namespace tinyprof
