#include "kernels/zoo/layer_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kernels/zoo/text.h"

namespace tinyprof {
namespace {

std::string Signature(std::string_view layer, std::span<const LayerParameter> parameters) {
  std::string signature = fmt::format("{}(", layer);
  for (size_t i = 0; i < parameters.size(); ++i) {
    signature += fmt::format("{}{}{}", i == 0 ? "" : ", ", parameters[i].name,
                             parameters[i].required ? "" : "=...");
  }
  return signature + ")";
}

std::vector<std::string> NamesOf(std::span<const LayerParameter> parameters) {
  std::vector<std::string> names;
  for (const LayerParameter& parameter : parameters) names.emplace_back(parameter.name);
  return names;
}

std::optional<double> ParseFloat(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

Result<LayerArguments> LayerArguments::Bind(std::string_view text, const LayerCall& call,
                                            std::span<const LayerParameter> parameters) {
  LayerArguments bound;
  bound.text_ = text;
  bound.call_ = &call;
  const std::vector<std::string> names = NamesOf(parameters);
  const std::string signature = Signature(call.name, parameters);
  const auto fail = [&](size_t position, const std::string& message) {
    return tl::unexpected<Error>(
        LayerListError(text, position, fmt::format("{}; the layer is {}", message, signature)));
  };
  bool named = false;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    if (argument.name.empty() && named) {
      return fail(argument.position, "a positional argument stands after a named one");
    }
    if (argument.name.empty() && i >= names.size()) {
      return fail(argument.position, fmt::format("{} takes at most {} arguments, got {}", call.name,
                                                 names.size(), call.arguments.size()));
    }
    named = !argument.name.empty();
    const std::string& name = named ? argument.name : names[i];
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return fail(argument.position, fmt::format("{} has no argument '{}'{}", call.name, name,
                                                 DidYouMean(name, names)));
    }
    if (!bound.values_.emplace(name, &argument.value).second) {
      return fail(argument.position, fmt::format("argument '{}' is given twice", name));
    }
  }
  for (const LayerParameter& parameter : parameters) {
    if (parameter.required && !bound.given(parameter.name)) {
      return fail(call.position, fmt::format("{} needs argument '{}'", call.name, parameter.name));
    }
  }
  return bound;
}

const ArgumentValue* LayerArguments::Find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return nullptr;
  const ArgumentValue* value = found->second;
  const bool none = value->kind == ArgumentValue::Kind::kWord && Lower(value->text) == "none";
  return none ? nullptr : value;
}

bool LayerArguments::given(std::string_view name) const { return Find(name) != nullptr; }

bool LayerArguments::is_word(std::string_view name) const {
  const ArgumentValue* value = Find(name);
  return value != nullptr && value->kind == ArgumentValue::Kind::kWord;
}

void LayerArguments::SetError(size_t position, std::string_view message) {
  if (!error_) error_ = LayerListError(text_, position, message);
}

int64_t LayerArguments::ToInt(std::string_view name, const std::string& number, size_t position,
                              int64_t min, int64_t max) {
  const std::optional<int64_t> value = ParseInt(number);
  if (value && *value >= min && *value <= max) return *value;
  SetError(position,
           fmt::format("{} is {}, wanted an integer from {} to {}", name, number, min, max));
  return std::max<int64_t>(min, 1);
}

int64_t LayerArguments::Int(std::string_view name, int64_t fallback, int64_t min, int64_t max) {
  const ArgumentValue* value = Find(name);
  if (value == nullptr) return fallback;
  const bool single = value->kind == ArgumentValue::Kind::kList && value->numbers.size() == 1;
  return ToInt(name, single ? value->numbers[0] : value->text, value->position, min, max);
}

double LayerArguments::Float(std::string_view name, double fallback) {
  const ArgumentValue* value = Find(name);
  if (value == nullptr) return fallback;
  const std::optional<double> number = ParseFloat(value->text);
  if (number) return *number;
  SetError(value->position, fmt::format("{} is '{}', wanted a number", name, value->text));
  return fallback;
}

bool LayerArguments::Bool(std::string_view name, bool fallback) {
  const ArgumentValue* value = Find(name);
  if (value == nullptr) return fallback;
  const std::string word = Lower(value->text);
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  SetError(value->position, fmt::format("{} is '{}', wanted true or false", name, value->text));
  return fallback;
}

std::string LayerArguments::Word(std::string_view name, std::string_view fallback,
                                 std::initializer_list<std::string_view> choices) {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::string(fallback);
  std::string word = Lower(found->second->text);
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return word;
  SetError(found->second->position, fmt::format("{} is '{}', wanted {}", name, found->second->text,
                                                fmt::join(choices, " or ")));
  return std::string(fallback);
}

std::vector<int64_t> LayerArguments::Ints(std::string_view name, size_t count, int64_t fallback,
                                          int64_t min, int64_t max) {
  const ArgumentValue* value = Find(name);
  if (value == nullptr) return std::vector<int64_t>(count, fallback);
  if (value->kind != ArgumentValue::Kind::kList) {
    return std::vector<int64_t>(count, ToInt(name, value->text, value->position, min, max));
  }
  if (value->numbers.size() != count && value->numbers.size() != 1) {
    SetError(value->position,
             fmt::format("{} has {} numbers, wanted {}", name, value->numbers.size(), count));
    return std::vector<int64_t>(count, std::max<int64_t>(min, 1));
  }
  std::vector<int64_t> ints;
  for (const std::string& number : value->numbers) {
    ints.push_back(ToInt(name, number, value->position, min, max));
  }
  ints.resize(count, ints[0]);
  return ints;
}

std::vector<int64_t> LayerArguments::List(std::string_view name, int64_t min, int64_t max) {
  const ArgumentValue* value = Find(name);
  if (value == nullptr) return {};
  if (value->kind != ArgumentValue::Kind::kList) {
    return {ToInt(name, value->text, value->position, min, max)};
  }
  std::vector<int64_t> ints;
  for (const std::string& number : value->numbers) {
    ints.push_back(ToInt(name, number, value->position, min, max));
  }
  if (ints.empty()) {
    SetError(value->position, fmt::format("{} is empty, wanted at least one number", name));
    ints.push_back(1);
  }
  return ints;
}

void LayerArguments::OnlyIf(bool supported, std::string_view name, std::string_view wanted) {
  const ArgumentValue* value = Find(name);
  if (supported || value == nullptr) return;
  SetError(value->position,
           fmt::format("{}={} is not supported, wanted {}", name, value->text, wanted));
}

}  // namespace tinyprof
