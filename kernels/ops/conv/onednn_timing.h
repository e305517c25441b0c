// Which of oneDNN's ways to convolve is the fastest here.
#pragma once

#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace tinyprof {

// The names of the implementations, fastest first: by the fastest of a few passes of each, in
// turns, on operands of zeros, with the team as it is. What is far behind after the first pass is
// passed no more; stops after 100 ms. Throws dnnl::error.
std::vector<std::string> FastestFirst(
    const std::vector<dnnl::convolution_forward::primitive_desc>& ways);

// The answer of `ask` for this key, which is asked once in the life of the process. Thread-safe.
std::vector<std::string> AskedOnce(const std::string& key,
                                   const std::function<std::vector<std::string>()>& ask);

}  // namespace tinyprof
