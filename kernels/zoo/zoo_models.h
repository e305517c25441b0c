// The makers of the built-in models and the parameters they are given.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kernels/base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/zoo/zoo.h"

namespace tinyprof {

// The parameters of one model, by key: those that were given over the defaults.
class ZooParameters {
 public:
  // `text` is "key=value,key=value" or empty. INVALID_ARGUMENT / "BAD_PARAMETER" for a key that the
  // entry does not have, a key given twice, or no value.
  static Result<ZooParameters> Parse(const ZooEntry& entry, std::string_view text);

  // An integer in [min, max], or "BAD_PARAMETER".
  Result<int64_t> Int(std::string_view key, int64_t min, int64_t max) const;
  // One of `choices`, or "BAD_PARAMETER".
  Result<std::string> Choice(std::string_view key,
                             std::initializer_list<std::string_view> choices) const;
  // Whether the user gave that key.
  bool given(std::string_view key) const;

 private:
  const ZooEntry* entry_ = nullptr;
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> given_;
};

struct ZooRequest {
  std::string name;  // of the graph
  ZooParameters parameters;
  int64_t batch = 1;
  uint64_t seed = 1;
};

Result<Graph> BuildMlp(const ZooRequest& request);
Result<Graph> BuildLeNet(const ZooRequest& request);
Result<Graph> BuildAlexNet(const ZooRequest& request);
Result<Graph> BuildVgg16(const ZooRequest& request);
Result<Graph> BuildResNet18(const ZooRequest& request);
Result<Graph> BuildResNet50(const ZooRequest& request);
Result<Graph> BuildBertBase(const ZooRequest& request);
Result<Graph> BuildGpt2Small(const ZooRequest& request);
Result<Graph> BuildTinyGpt(const ZooRequest& request);
Result<Graph> BuildCourseGpt(const ZooRequest& request);

}  // namespace tinyprof
