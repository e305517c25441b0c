// How far a counted value can be trusted; the same three grades for events and for results.
#pragma once

#include <string_view>

namespace tinyprof {

enum class Quality {
  kExact,    // equal on each repeat and known to be right
  kGood,     // measured, with the spread that measuring has
  kSuspect,  // something speaks against it, and a reason says what
};

// "exact", "good", "suspect".
constexpr std::string_view Name(Quality quality) {
  switch (quality) {
    case Quality::kExact:
      return "exact";
    case Quality::kGood:
      return "good";
    case Quality::kSuspect:
      return "suspect";
  }
  return "suspect";
}

}  // namespace tinyprof
