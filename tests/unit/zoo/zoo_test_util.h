// Builds and analyses a model in one call, failing the test with the error's message.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/zoo/analysis.h"
#include "kernels/zoo/model_spec.h"

namespace tinyprof {

inline Graph Built(const std::string& text, std::vector<int64_t> input = {}, int64_t batch = 1) {
  ModelSpec spec{.text = text, .batch = batch};
  if (!input.empty()) spec.inputs.emplace_back("", std::move(input));
  Result<Graph> graph = BuildModel(spec);
  EXPECT_TRUE(graph.has_value()) << text << ": " << graph.error().message;
  return graph ? *std::move(graph) : Graph{};
}

inline ModelAnalysis Analyzed(const Graph& graph) {
  Result<ModelAnalysis> analysis = Analyze(graph);
  EXPECT_TRUE(analysis.has_value()) << graph.name << ": " << analysis.error().message;
  return analysis ? *std::move(analysis) : ModelAnalysis{};
}

inline ModelAnalysis Analyzed(const std::string& text, std::vector<int64_t> input = {},
                              int64_t batch = 1) {
  return Analyzed(Built(text, std::move(input), batch));
}

// The error of a model that must not build.
inline Error ErrorOf(const std::string& text, std::vector<int64_t> input = {}, int64_t batch = 1) {
  ModelSpec spec{.text = text, .batch = batch};
  if (!input.empty()) spec.inputs.emplace_back("", std::move(input));
  Result<Graph> graph = BuildModel(spec);
  EXPECT_FALSE(graph.has_value()) << text;
  return graph ? Error{} : std::move(graph).error();
}

}  // namespace tinyprof
