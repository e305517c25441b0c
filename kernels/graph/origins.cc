#include "kernels/graph/origins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

namespace tinyprof {

std::vector<std::string> OriginsOf(const Node& node) {
  const auto noted = node.attributes.find(kOriginsAttribute);
  const auto* text =
      noted == node.attributes.end() ? nullptr : std::get_if<std::string>(&noted->second);
  std::vector<std::string> names;
  if (text == nullptr) return names;
  for (size_t begin = 0; begin <= text->size();) {
    const size_t end = std::min(text->find('\n', begin), text->size());
    if (end > begin) names.push_back(text->substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::vector<std::string> NodesFor(const Node& node) {
  std::vector<std::string> names = OriginsOf(node);
  if (names.empty()) names.push_back(node.name);
  return names;
}

void SetOrigins(Node& node, const std::vector<std::string>& names) {
  const bool can_be_noted = std::none_of(names.begin(), names.end(), [](const std::string& name) {
    return name.empty() || name.find('\n') != std::string::npos;
  });
  if (!can_be_noted || names == std::vector<std::string>{node.name}) return;
  node.attributes[std::string(kOriginsAttribute)] = fmt::format("{}", fmt::join(names, "\n"));
}

}  // namespace tinyprof
