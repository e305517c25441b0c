// Mutations of protobuf messages that keep them parseable, for libFuzzer: changes of single bytes
// rarely come past the parser.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <random>

namespace tinyprof {

// Changes one place of `message`, anywhere in its tree: removes, repeats or swaps elements,
// replaces a part by another part of the same type, gives numbers extreme and neighbouring values,
// enums any value, strings those of other places. So references come to point at nothing, at
// themselves, or at what is of another kind. Does nothing to a message without fields.
void MutateMessage(google::protobuf::Message& message, std::mt19937_64& random);

// Replaces or adds one part of `message` by a part of the same type, or a string by one, of
// `other`.
void CrossMessages(google::protobuf::Message& message, const google::protobuf::Message& other,
                   std::mt19937_64& random);

}  // namespace tinyprof
