// MessageWriter and MessageReader: a noun (model/field.h) to a protobuf message
// and back. The message's field decides how a value is written: a rule and an
// enumeration as a number or as a word.

#ifndef NANWATCH_WIRE_MESSAGE_FIELDS_H_
#define NANWATCH_WIRE_MESSAGE_FIELDS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/time.h"
#include "model/field.h"
#include "model/severity.h"

namespace nanwatch {

// "opened" is "opened_us" when it is a time.
template <typename T>
inline constexpr bool kIsTime =
    std::is_same_v<T, Time> || std::is_same_v<T, std::optional<Time>> ||
    std::is_same_v<T, Duration>;

// Fields of one message by name, quickest in the order of their declaration.
class FieldFinder {
 public:
  explicit FieldFinder(const google::protobuf::Message& message)
      : type_(*message.GetDescriptor()) {}
  // Null: the message has no such field.
  const google::protobuf::FieldDescriptor* Find(std::string_view name,
                                                bool is_time);

 private:
  const google::protobuf::Descriptor& type_;
  int next_ = 0;
};

// What the message has no field for is left out.
class MessageWriter {
 public:
  static constexpr bool kShows = true;
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  // `rule_name` may be null where rules are numbers, and outlives this.
  MessageWriter(google::protobuf::Message* to, const RuleNames* rule_name)
      : to_(to), rule_name_(rule_name), finder_(*to) {}

  template <typename T>
  void Field(const char* name, const T& value, const Shown& shown = {}) {
    const FieldDescriptor* field = finder_.Find(name, kIsTime<T>);
    if (field != nullptr) Put(field, value, shown);
  }

 private:
  template <typename T>
  void Put(const FieldDescriptor* field, const T& value, const Shown& shown) {
    if constexpr (std::is_same_v<T, Time>) {
      Number(field, ToMicros(value));
    } else if constexpr (std::is_same_v<T, Duration>) {
      Number(field, value.count());
    } else if constexpr (std::is_same_v<T, std::string>) {
      Text(field, value);
    } else if constexpr (std::is_floating_point_v<T>) {
      Real(field, value);
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      PutNumber(field, value, shown);
    } else if constexpr (requires { value.has_value(); }) {
      if (value) Put(field, *value, shown);
    } else if constexpr (requires { value.begin(); }) {
      for (const auto& item : value) Put(field, item, shown);
    } else if (shown.said) {
      MessageWriter inner(Inner(field), rule_name_);
      Fields(inner, const_cast<T&>(value));
    }
  }
  template <typename T>
  void PutNumber(const FieldDescriptor* field, T value, const Shown& shown) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      // In query.proto 0 is "not said", but for a severity: that is healthy.
      constexpr int kFirst = std::is_same_v<T, Severity> ? 0 : 1;
      Number(field, static_cast<int64_t>(value) + kFirst);
    } else if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
      Number(field, static_cast<int64_t>(value));
    } else if constexpr (std::is_same_v<T, RuleId>) {
      Text(field, (*rule_name_)(value));
    } else if constexpr (requires { Name(value); }) {
      if (shown.said) Text(field, std::string(Name(value)));
    }
  }
  // Of a field of several, one more.
  google::protobuf::Message* Inner(const FieldDescriptor* field);
  void Number(const FieldDescriptor* field, int64_t value);
  void Real(const FieldDescriptor* field, double value);
  void Text(const FieldDescriptor* field, std::string value);

  google::protobuf::Message* const to_;
  const RuleNames* const rule_name_;
  FieldFinder finder_;
};

// Of the messages of history.proto, where enumerations and rules are numbers. A
// field that is not set and could say so leaves the value as it is. ok() is
// false once a number was out of its type's range: of a newer version, or
// damaged.
class MessageReader {
 public:
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  explicit MessageReader(const google::protobuf::Message& from)
      : from_(from), finder_(from) {}

  template <typename T>
  void Field(const char* name, T& value, const Shown& = {}) {
    const FieldDescriptor* field = finder_.Find(name, kIsTime<T>);
    if (field != nullptr) Get(field, value);
  }
  bool ok() const { return ok_; }

 private:
  template <typename T>
  void Get(const FieldDescriptor* field, T& value) {
    if constexpr (requires { value.push_back({}); } &&
                  !std::is_same_v<T, std::string>) {
      const auto* reflection = from_.GetReflection();
      const int size = reflection->FieldSize(from_, field);
      for (int i = 0; i < size; ++i) {
        GetNoun(reflection->GetRepeatedMessage(from_, field, i),
                value.emplace_back());
      }
    } else if constexpr (requires { Fields(*this, value); }) {
      GetNoun(from_.GetReflection()->GetMessage(from_, field), value);
    } else if (IsSet(field)) {
      GetOne(field, value);
    }
  }
  template <typename T>
  void GetNoun(const google::protobuf::Message& from, T& value) {
    MessageReader inner(from);
    Fields(inner, value);
    ok_ = ok_ && inner.ok_;
  }
  template <typename T>
  void GetOne(const FieldDescriptor* field, T& value) {
    if constexpr (std::is_same_v<T, Time>) {
      value = FromMicros(Number(field));
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = Text(field);
    } else if constexpr (std::is_floating_point_v<T>) {
      value = Real(field);
    } else if constexpr (requires { value.has_value(); }) {
      GetOne(field, value.emplace());
    } else if constexpr (std::is_same_v<T, RuleId>) {
      value = RuleIdOf(Number(field));
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(
          InRange(Number(field), 0, static_cast<int64_t>(Last(T{}))));
    } else if constexpr (sizeof(T) < sizeof(int64_t)) {
      using Limits = std::numeric_limits<T>;
      value =
          static_cast<T>(InRange(Number(field), Limits::min(), Limits::max()));
    } else {
      value = static_cast<T>(Number(field));
    }
  }
  int64_t InRange(int64_t number, int64_t first, int64_t last) {
    if (number >= first && number <= last) return number;
    ok_ = false;
    return first;
  }
  bool IsSet(const FieldDescriptor* field) const;
  int64_t Number(const FieldDescriptor* field) const;
  double Real(const FieldDescriptor* field) const;
  std::string Text(const FieldDescriptor* field) const;

  const google::protobuf::Message& from_;
  FieldFinder finder_;
  bool ok_ = true;
};

}  // namespace nanwatch

#endif  // NANWATCH_WIRE_MESSAGE_FIELDS_H_
