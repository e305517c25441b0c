// Text from outside, made fit for protobuf strings and log lines.
#pragma once

#include <string>
#include <string_view>

namespace tinyprof {

// `text` with every byte that is not part of well-formed UTF-8 (RFC 3629) replaced by '?', cut at a
// character's border to at most `max_bytes`.
std::string ValidUtf8(std::string_view text, size_t max_bytes);

// Whether all of `text` is well-formed UTF-8.
bool IsValidUtf8(std::string_view text);

}  // namespace tinyprof
