#include "daemon/rpc/model_catalog.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/zoo/zoo.h"

namespace tinyprof {
namespace {

v1::Model DescribeZoo(const ZooEntry& entry) {
  v1::Model model;
  model.set_name(std::string(entry.name));
  model.set_source("zoo");
  model.set_summary(std::string(entry.summary));
  model.set_parameter_count(entry.published_parameter_count);
  for (const ZooParameter& parameter : entry.parameters) {
    model.add_parameters(
        fmt::format("{}={}: {}", parameter.key, parameter.default_value, parameter.meaning));
  }
  return model;
}

v1::Model DescribeStored(const StoredModel& stored) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  v1::Model model;
  model.set_name(stored.name);
  model.set_source("onnx");
  model.set_summary("uploaded ONNX file");
  model.set_sha256(stored.sha256);
  model.set_size_bytes(stored.byte_size);
  model.mutable_upload_time()->set_seconds(stored.created_time_ns / kNsPerSecond);
  model.mutable_upload_time()->set_nanos(
      static_cast<int32_t>(stored.created_time_ns % kNsPerSecond));
  return model;
}

}  // namespace

Result<v1::Model> ModelCatalog::Describe(std::string_view name) {
  if (const ZooEntry* entry = FindZooEntry(name)) return DescribeZoo(*entry);
  TINYPROF_ASSIGN_OR_RETURN(const StoredModel stored, store_.Get(name));
  v1::Model model = DescribeStored(stored);
  const std::optional<Content> content = ContentOf(stored);
  if (!content) return model;
  model.set_parameter_count(content->parameter_count);
  if (content->quantization) *model.mutable_quantization() = *content->quantization;
  return model;
}

std::vector<std::string> ModelCatalog::Names() const {
  std::vector<std::string> names;
  for (const ZooEntry& entry : ZooEntries()) names.emplace_back(entry.name);
  for (const StoredModel& stored : store_.List()) names.push_back(stored.name);
  return names;
}

std::optional<ModelCatalog::Content> ModelCatalog::ContentOf(const StoredModel& model) {
  const std::lock_guard lock(contents_mutex_);
  const auto [entry, is_new] = contents_.try_emplace(model.sha256);
  if (!is_new) return entry->second;
  v1::ModelSpec spec;
  spec.set_text(model.name);
  spec.set_batch(1);
  if (const auto analysis = models_.Analyze(spec)) {
    entry->second = Content{.parameter_count = analysis->unique_parameter_count()};
    if (analysis->has_quantization()) entry->second->quantization = analysis->quantization();
  }
  return entry->second;
}

}  // namespace tinyprof
