// Runs one model of an ONNX test suite on its own inputs and compares what comes out.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace tinyprof {

struct Outcome {
  enum class Kind : char {
    kPassed = 'p',
    kFailed = 'f',   // the outputs differ, or the process ended
    kRefused = 'r',  // not imported, or no kernel for a node
  };
  Kind kind = Kind::kFailed;
  std::string detail;  // why not, in one line; empty when passed
};

// Reads `folder`/model.onnx and test_data_set_0, runs it in every backend and compares each output
// with the file of the same position: relative error 1e-3 and absolute 1e-7 for floats, equality
// for the rest. Inputs are bound by position. Where shapes or branches depend on the elements of
// inputs, those inputs are fixed before the run: integers first, and where that does not do, all.
Outcome RunModel(const std::filesystem::path& folder);

// The same in a child process, whose end is a failure of this model only. A model has `seconds`.
Outcome RunModelApart(const std::filesystem::path& folder, int seconds);

// The types of the operators in a model, those of its branches and loops too, but no Constant.
std::set<std::string> OperatorsOf(const std::filesystem::path& folder);

}  // namespace tinyprof
