#include "kernels/zoo/zoo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/zoo/text.h"
#include "kernels/zoo/zoo_models.h"

namespace tinyprof {
namespace {

struct Model {
  ZooEntry entry;
  Result<Graph> (*build)(const ZooRequest& request);
};

constexpr ZooParameter kImage = {"image", "224", "height and width of the input"};
constexpr ZooParameter kSeq = {"seq", "128", "tokens in a sequence"};
constexpr ZooParameter kPhase = {"phase", "prefill",
                                 "prefill (all tokens at once) or decode (one token, cached keys)"};
constexpr ZooParameter kContext = {
    "context", "128", "phase=decode: positions attended in total, the new token included"};

std::vector<Model> ImageModels() {
  return {
      {{"mlp", "784-128-64-10 perceptron with ReLU", {}, 109386}, &BuildMlp},
      {{"lenet", "LeNet-5 on 32x32, tanh and average pools", {}, 61706}, &BuildLeNet},
      {{"alexnet", "AlexNet, the single-tower form of 2014", {kImage}, 61100840}, &BuildAlexNet},
      {{"vgg16", "VGG-16 (configuration D) without batch norm", {kImage}, 138357544}, &BuildVgg16},
      {{"resnet18", "ResNet-18", {kImage}, 11689512}, &BuildResNet18},
      {{"resnet50",
        "ResNet-50",
        {kImage,
         {"version", "1.5",
          "1.5: a stage's stride is on the 3x3; 1: on the first 1x1, as in 2015"}},
        25557032},
       &BuildResNet50},
  };
}

std::vector<Model> SequenceModels() {
  const ZooParameter layers = {"layers", "6", "transformer blocks"};
  const ZooParameter heads = {"heads", "4", "attention heads, a divisor of dim"};
  return {
      {{"bert-base", "BERT base uncased with pooler", {kSeq}, 109482240}, &BuildBertBase},
      {{"gpt2-small",
        "GPT-2 small, 1024 positions",
        {kSeq, kPhase, kContext, {"tied", "true", "whether lm_head is the token embedding"}},
        124439808},
       &BuildGpt2Small},
      {{"tinygpt",
        "the architecture of GPT-2 in any size, with as many positions as seq",
        {layers,
         {"dim", "128", "width of the embeddings"},
         heads,
         {"seq", "64", "tokens in a sequence, and learned positions"},
         {"vocab", "256", "tokens of the vocabulary"},
         kPhase,
         {"context", "64", kContext.meaning},
         {"tied", "true", "whether lm_head is the token embedding"}},
        1230848},
       &BuildTinyGpt},
      {{"gpt",
        "TinyTorch's GPT: separate projections, lm_head of its own without bias, 1024 positions",
        {layers,
         {"dim", "512", "width of the embeddings"},
         {"heads", "8", heads.meaning},
         kSeq,
         {"vocab", "10000", "tokens of the vocabulary"},
         kPhase,
         kContext},
        29679616},
       &BuildCourseGpt},
  };
}

const std::vector<Model>& Models() {
  static const std::vector<Model> models = [] {
    std::vector<Model> all = ImageModels();
    for (Model& model : SequenceModels()) all.push_back(std::move(model));
    return all;
  }();
  return models;
}

tl::unexpected<Error> BadParameter(std::string message, std::string_view key) {
  return Fail(ErrorCode::kInvalidArgument, "BAD_PARAMETER", std::move(message),
              {{"parameter", std::string(key)}});
}

}  // namespace

std::span<const ZooEntry> ZooEntries() {
  static const std::vector<ZooEntry> entries = [] {
    std::vector<ZooEntry> all;
    for (const Model& model : Models()) all.push_back(model.entry);
    return all;
  }();
  return entries;
}

const ZooEntry* FindZooEntry(std::string_view name) {
  for (const ZooEntry& entry : ZooEntries()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Result<Graph> BuildZooModel(std::string_view text, int64_t batch, uint64_t seed) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const Model& model : Models()) {
    if (model.entry.name != name) continue;
    const std::string_view rest =
        colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    TINYPROF_ASSIGN_OR_RETURN(ZooParameters parameters, ZooParameters::Parse(model.entry, rest));
    return model.build({std::string(text), std::move(parameters), batch, seed});
  }
  std::vector<std::string> names;
  for (const ZooEntry& entry : ZooEntries()) names.emplace_back(entry.name);
  const std::string shown(name.substr(0, 100));
  return Fail(ErrorCode::kNotFound, "UNKNOWN_MODEL",
              fmt::format("there is no model '{}'{} The zoo has {}", shown,
                          DidYouMean(name, names).empty() ? "." : DidYouMean(name, names),
                          fmt::join(names, ", ")),
              {{"model", shown}});
}

Result<ZooParameters> ZooParameters::Parse(const ZooEntry& entry, std::string_view text) {
  ZooParameters parameters;
  parameters.entry_ = &entry;
  std::vector<std::string> keys;
  for (const ZooParameter& parameter : entry.parameters) {
    keys.emplace_back(parameter.key);
    parameters.values_.emplace(parameter.key, parameter.default_value);
  }
  if (Trim(text).empty()) return parameters;
  for (const std::string_view piece : SplitText(text, ',')) {
    const size_t equals = piece.find('=');
    const std::string key(Trim(piece.substr(0, equals)));
    if (equals == std::string_view::npos || key.empty() || Trim(piece.substr(equals + 1)).empty()) {
      return BadParameter(fmt::format("{}: got '{}', wanted key=value", entry.name, piece), key);
    }
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      const std::string known =
          keys.empty() ? "it has none" : fmt::format("it has {}", fmt::join(keys, ", "));
      return BadParameter(fmt::format("{} has no parameter '{}': {}", entry.name, key, known), key);
    }
    const std::string value(Trim(piece.substr(equals + 1)));
    if (!parameters.given_.emplace(key, value).second) {
      return BadParameter(fmt::format("{}: parameter '{}' is given twice", entry.name, key), key);
    }
    parameters.values_[key] = value;
  }
  return parameters;
}

Result<int64_t> ZooParameters::Int(std::string_view key, int64_t min, int64_t max) const {
  const std::string& text = values_.find(key)->second;
  const std::optional<int64_t> value = ParseInt(text);
  if (!value || *value < min || *value > max) {
    return BadParameter(fmt::format("{}: {} is {}, wanted an integer from {} to {}", entry_->name,
                                    key, text, min, max),
                        key);
  }
  return *value;
}

Result<std::string> ZooParameters::Choice(std::string_view key,
                                          std::initializer_list<std::string_view> choices) const {
  const std::string& text = values_.find(key)->second;
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  return BadParameter(
      fmt::format("{}: {} is {}, wanted {}", entry_->name, key, text, fmt::join(choices, " or ")),
      key);
}

bool ZooParameters::given(std::string_view key) const { return given_.contains(key); }

}  // namespace tinyprof
