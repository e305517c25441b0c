#include "tests/fuzz/message_mutator.h"

#include <google/protobuf/descriptor.h>

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tinyprof {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// A field of a message of the tree that is set, or one element of a repeated field.
struct Place {
  Message* parent;
  const FieldDescriptor* field;
  int index;  // -1: not repeated
};

size_t Below(std::mt19937_64& random, size_t count) {
  return std::uniform_int_distribution<size_t>(0, count - 1)(random);
}

void AddPlaces(Message& message, std::vector<Place>& places) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      places.push_back({&message, field, -1});
      if (is_message) AddPlaces(*reflection.MutableMessage(&message, field), places);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      places.push_back({&message, field, i});
      if (is_message) AddPlaces(*reflection.MutableRepeatedMessage(&message, field, i), places);
    }
  }
}

std::vector<Place> PlacesOf(Message& message) {
  std::vector<Place> places;
  AddPlaces(message, places);
  return places;
}

Message& MessageAt(const Place& place) {
  const Reflection& reflection = *place.parent->GetReflection();
  return place.index < 0
             ? *reflection.MutableMessage(place.parent, place.field)
             : *reflection.MutableRepeatedMessage(place.parent, place.field, place.index);
}

std::string StringAt(const Place& place) {
  const Reflection& reflection = *place.parent->GetReflection();
  return place.index < 0 ? reflection.GetString(*place.parent, place.field)
                         : reflection.GetRepeatedString(*place.parent, place.field, place.index);
}

void SetString(const Place& place, const std::string& value) {
  const Reflection& reflection = *place.parent->GetReflection();
  if (place.index < 0) {
    reflection.SetString(place.parent, place.field, value);
  } else {
    reflection.SetRepeatedString(place.parent, place.field, place.index, value);
  }
}

int64_t IntegerAt(const Place& place) {
  const Reflection& reflection = *place.parent->GetReflection();
  const bool wide = place.field->cpp_type() == FieldDescriptor::CPPTYPE_INT64;
  if (place.index < 0) {
    return wide ? reflection.GetInt64(*place.parent, place.field)
                : reflection.GetInt32(*place.parent, place.field);
  }
  return wide ? reflection.GetRepeatedInt64(*place.parent, place.field, place.index)
              : reflection.GetRepeatedInt32(*place.parent, place.field, place.index);
}

void SetInteger(const Place& place, int64_t value) {
  const Reflection& reflection = *place.parent->GetReflection();
  const bool wide = place.field->cpp_type() == FieldDescriptor::CPPTYPE_INT64;
  const auto narrow = static_cast<int32_t>(value);
  if (place.index < 0) {
    wide ? reflection.SetInt64(place.parent, place.field, value)
         : reflection.SetInt32(place.parent, place.field, narrow);
  } else {
    wide ? reflection.SetRepeatedInt64(place.parent, place.field, place.index, value)
         : reflection.SetRepeatedInt32(place.parent, place.field, place.index, narrow);
  }
}

void SetFloat(const Place& place, float value) {
  const Reflection& reflection = *place.parent->GetReflection();
  if (place.index < 0) {
    reflection.SetFloat(place.parent, place.field, value);
  } else {
    reflection.SetRepeatedFloat(place.parent, place.field, place.index, value);
  }
}

void SetEnum(const Place& place, int value) {
  const Reflection& reflection = *place.parent->GetReflection();
  if (place.index < 0) {
    reflection.SetEnumValue(place.parent, place.field, value);
  } else {
    reflection.SetRepeatedEnumValue(place.parent, place.field, place.index, value);
  }
}

void Remove(const Place& place) {
  const Reflection& reflection = *place.parent->GetReflection();
  if (place.index < 0) {
    reflection.ClearField(place.parent, place.field);
    return;
  }
  const int last = reflection.FieldSize(*place.parent, place.field) - 1;
  reflection.SwapElements(place.parent, place.field, place.index, last);
  reflection.RemoveLast(place.parent, place.field);
}

void SwapWithAnother(const Place& place, std::mt19937_64& random) {
  const Reflection& reflection = *place.parent->GetReflection();
  const auto count = static_cast<size_t>(reflection.FieldSize(*place.parent, place.field));
  reflection.SwapElements(place.parent, place.field, place.index,
                          static_cast<int>(Below(random, count)));
}

// Puts `value` in the place, or beside it when it is an element.
void PutMessage(const Place& place, const Message& value, std::mt19937_64& random) {
  // A copy, since `value` may hold the place, or lie in it.
  const std::unique_ptr<Message> copy(value.New());
  copy->CopyFrom(value);
  if (place.index >= 0 && Below(random, 2) == 0) {
    place.parent->GetReflection()->AddMessage(place.parent, place.field)->CopyFrom(*copy);
  } else {
    MessageAt(place).CopyFrom(*copy);
  }
}

int64_t ChangedInteger(int64_t value, std::mt19937_64& random) {
  static constexpr std::array<int64_t, 20> kValues = {0,
                                                      1,
                                                      -1,
                                                      2,
                                                      3,
                                                      5,
                                                      8,
                                                      -2,
                                                      16,
                                                      255,
                                                      65536,
                                                      int64_t{1} << 20,
                                                      std::numeric_limits<int32_t>::max(),
                                                      std::numeric_limits<int32_t>::min(),
                                                      int64_t{1} << 32,
                                                      int64_t{1} << 59,
                                                      int64_t{1} << 62,
                                                      -(int64_t{1} << 62),
                                                      std::numeric_limits<int64_t>::max(),
                                                      std::numeric_limits<int64_t>::min()};
  const auto wrapped = static_cast<uint64_t>(value);
  switch (Below(random, 4)) {
    case 0:
      return static_cast<int64_t>(wrapped + 1);
    case 1:
      return static_cast<int64_t>(wrapped - 1);
    case 2:
      return static_cast<int64_t>(~wrapped + 1);
    default:
      return kValues[Below(random, kValues.size())];
  }
}

float ChangedFloat(std::mt19937_64& random) {
  static constexpr std::array<float, 9> kValues = {0.0F,
                                                   -0.0F,
                                                   1.0F,
                                                   -1.0F,
                                                   0.5F,
                                                   std::numeric_limits<float>::max(),
                                                   std::numeric_limits<float>::denorm_min(),
                                                   std::numeric_limits<float>::infinity(),
                                                   std::numeric_limits<float>::quiet_NaN()};
  return kValues[Below(random, kValues.size())];
}

void ChangeBytes(const Place& place, std::mt19937_64& random) {
  std::string bytes = StringAt(place);
  if (bytes.empty() || Below(random, 4) == 0) {
    bytes.push_back(static_cast<char>(random()));
  } else if (Below(random, 3) == 0) {
    bytes.resize(Below(random, bytes.size()));
  } else {
    bytes[Below(random, bytes.size())] = static_cast<char>(random());
  }
  SetString(place, bytes);
}

// Of `places`, those that hold what `like` could hold.
std::vector<Place> SameType(const std::vector<Place>& places, const Place& like) {
  std::vector<Place> same;
  for (const Place& place : places) {
    if (place.field->cpp_type() != like.field->cpp_type()) continue;
    if (place.field->type() != like.field->type()) continue;
    if (place.field->message_type() == like.field->message_type()) same.push_back(place);
  }
  return same;
}

void ChangeScalar(const Place& place, const std::vector<Place>& places, std::mt19937_64& random) {
  switch (place.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      SetInteger(place, ChangedInteger(IntegerAt(place), random));
      return;
    case FieldDescriptor::CPPTYPE_FLOAT:
      SetFloat(place, ChangedFloat(random));
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      SetEnum(place, static_cast<int>(Below(random, 16)));
      return;
    case FieldDescriptor::CPPTYPE_STRING: {
      if (place.field->type() == FieldDescriptor::TYPE_BYTES || Below(random, 8) == 0) {
        ChangeBytes(place, random);
        return;
      }
      const std::vector<Place> same = SameType(places, place);
      SetString(place, StringAt(same[Below(random, same.size())]));
      return;
    }
    default:
      Remove(place);  // types that the messages fuzzed here hardly use
  }
}

}  // namespace

void MutateMessage(Message& message, std::mt19937_64& random) {
  const std::vector<Place> places = PlacesOf(message);
  if (places.empty()) return;
  const Place& place = places[Below(random, places.size())];
  const size_t action = Below(random, 8);
  if (action == 0) {
    Remove(place);
  } else if (action == 1 && place.index >= 0) {
    SwapWithAnother(place, random);
  } else if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const std::vector<Place> same = SameType(places, place);
    PutMessage(place, MessageAt(same[Below(random, same.size())]), random);
  } else {
    ChangeScalar(place, places, random);
  }
}

void CrossMessages(Message& message, const Message& other, std::mt19937_64& random) {
  const std::vector<Place> places = PlacesOf(message);
  if (places.empty()) return;
  const std::unique_ptr<Message> donor(other.New());
  donor->CopyFrom(other);
  const Place& place = places[Below(random, places.size())];
  const std::vector<Place> same = SameType(PlacesOf(*donor), place);
  if (same.empty()) return;
  const Place& from = same[Below(random, same.size())];
  switch (place.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      PutMessage(place, MessageAt(from), random);
      return;
    case FieldDescriptor::CPPTYPE_STRING:
      SetString(place, StringAt(from));
      return;
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      SetInteger(place, IntegerAt(from));
      return;
    default:
      Remove(place);
  }
}

}  // namespace tinyprof
