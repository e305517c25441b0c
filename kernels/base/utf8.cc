#include "kernels/base/utf8.h"

#include <cstdint>

namespace tinyprof {
namespace {

uint8_t ByteAt(std::string_view text, size_t index) {
  return index < text.size() ? static_cast<uint8_t>(text[index]) : 0;
}

// Bytes of the well-formed character that `text` begins with; 0 when it begins with none.
size_t CharacterLength(std::string_view text) {
  const uint8_t first = ByteAt(text, 0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                        : first >= 0xe0 && first <= 0xef ? 3
                        : first >= 0xf0 && first <= 0xf4 ? 4
                                                         : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((ByteAt(text, i) & 0xc0) != 0x80) return 0;
  }
  const uint8_t second = ByteAt(text, 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool beyond_unicode = first == 0xf4 && second > 0x8f;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

}  // namespace

std::string ValidUtf8(std::string_view text, size_t max_bytes) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (valid.size() + (length == 0 ? 1 : length) > max_bytes) break;
    if (length == 0) {
      valid += '?';
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace tinyprof
