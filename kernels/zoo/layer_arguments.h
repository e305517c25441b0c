// Binds the arguments of a layer call to the layer's parameters, by position and by name.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/zoo/layer_syntax.h"

namespace tinyprof {

struct LayerParameter {
  std::string_view name;
  bool required = false;
};

// The arguments of one call, by parameter. Getters note the first error, which error() returns, and
// then give the fallback, so that a layer can read all of its arguments in straight code.
class LayerArguments {
 public:
  // `text` is the whole list; it must outlive the result, as must `call` and `parameters`.
  static Result<LayerArguments> Bind(std::string_view text, const LayerCall& call,
                                     std::span<const LayerParameter> parameters);

  bool given(std::string_view name) const;  // and not None
  // An integer in [min, max].
  int64_t Int(std::string_view name, int64_t fallback, int64_t min, int64_t max);
  double Float(std::string_view name, double fallback);
  bool Bool(std::string_view name, bool fallback);
  std::string Word(std::string_view name, std::string_view fallback,
                   std::initializer_list<std::string_view> choices);
  // `count` integers; one number stands for all of them.
  std::vector<int64_t> Ints(std::string_view name, size_t count, int64_t fallback, int64_t min,
                            int64_t max);
  // Any number of integers, at least one.
  std::vector<int64_t> List(std::string_view name, int64_t min, int64_t max);
  bool is_word(std::string_view name) const;

  // Fails unless the argument, if given, equals what tinyprof does anyway.
  void OnlyIf(bool supported, std::string_view name, std::string_view wanted);
  const std::optional<Error>& error() const { return error_; }

 private:
  const ArgumentValue* Find(std::string_view name) const;
  int64_t ToInt(std::string_view name, const std::string& number, size_t position, int64_t min,
                int64_t max);
  void SetError(size_t position, std::string_view message);

  std::string_view text_;
  const LayerCall* call_ = nullptr;
  std::map<std::string, const ArgumentValue*, std::less<>> values_;
  std::optional<Error> error_;
};

}  // namespace tinyprof
