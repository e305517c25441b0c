// Which of two ways to convolve is faster here.
#pragma once

#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

namespace tinyprof {

// Whether `first` is faster than `second`: the fastest of a few passes of each, in turns, on
// operands of zeros, with the team as it is. Stops after 100 ms. Throws dnnl::error.
bool IsFaster(const dnnl::convolution_forward::primitive_desc& first,
              const dnnl::convolution_forward::primitive_desc& second);

// The answer of `ask` for this key, which is asked once in the life of the process. Thread-safe.
bool AskedOnce(const std::string& key, const std::function<bool()>& ask);

}  // namespace tinyprof
