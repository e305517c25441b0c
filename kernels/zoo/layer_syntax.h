// The grammar of a layer list, without knowledge of any layer:
//
//   list  = layer { ";" layer } [ ";" ]
//   layer = NAME [ "(" [ arg { "," arg } ] ")" ]
//   arg   = [ NAME "=" ] value
//   value = NUMBER | NAME | STRING | "(" [ value { "," value } ] ")" | "[" ... "]"
//
// Layer names are read without regard to case; white space separates nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace tinyprof {

inline constexpr size_t kMaxLayerListBytes = 64 * 1024;
inline constexpr size_t kMaxLayers = 4096;
inline constexpr size_t kMaxListValues = 16;  // elements of one "(...)" value

struct ArgumentValue {
  enum class Kind { kNumber, kWord, kList };
  Kind kind = Kind::kWord;
  std::string text;                  // of a number or a word, as written (a string without quotes)
  std::vector<std::string> numbers;  // of a list: its numbers as written
  size_t position = 0;               // byte in the list's text
};

struct Argument {
  std::string name;  // empty: positional
  ArgumentValue value;
  size_t position = 0;
};

struct LayerCall {
  std::string name;  // lower case
  std::vector<Argument> arguments;
  std::string text;  // as written, for messages
  size_t position = 0;
};

// INVALID_ARGUMENT / "BAD_LAYER_LIST" whose message shows the place.
Result<std::vector<LayerCall>> ParseLayerList(std::string_view text);

// The error of a layer list at byte `position`: the message, the character's number from 1, and an
// excerpt of the line with a caret below that character.
Error LayerListError(std::string_view text, size_t position, std::string_view message);

}  // namespace tinyprof
