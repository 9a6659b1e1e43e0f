// A noun with every field set, and the fields of a noun as texts.

#ifndef NANWATCH_TESTS_UNIT_MODEL_FILLED_H_
#define NANWATCH_TESTS_UNIT_MODEL_FILLED_H_

#include <spdlog/fmt/fmt.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "model/incident_fields.h"

namespace nanwatch {

// Gives every field a value that is neither its default nor its neighbour's.
class Filler {
 public:
  template <typename T>
  void Field(const char* name, T& value, const Shown& = {}) {
    Fill(name, value);
  }

 private:
  template <typename T>
  void Fill(const char* name, T& value) {
    ++number_;
    if constexpr (std::is_same_v<T, std::string>) {
      value = fmt::format("{} {}", name, number_);
    } else if constexpr (std::is_same_v<T, Time>) {
      value = FromMicros(1700000000000000 + number_);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else if constexpr (std::is_enum_v<T>) {
      value = Another(value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(number_ % 50 + 2);
    } else if constexpr (requires { value.emplace(); }) {
      Fill(name, value.emplace());
    } else if constexpr (requires { value.emplace_back(); }) {
      Fill(name, value.emplace_back());
      Fill(name, value.emplace_back());
    } else if constexpr (std::is_same_v<T, RuleSet>) {
      value = {RuleId::kScaleStuck, RuleId::kWeightOutOfRange};
    } else {
      Fields(*this, value);
    }
  }
  template <typename E>
  static E Another(E value) {
    if constexpr (requires { Last(value); }) {
      return value == Last(value) ? static_cast<E>(1) : Last(value);
    } else {
      return static_cast<E>(2);
    }
  }
  int number_ = 0;
};

template <typename T>
T Filled() {
  T noun;
  Filler filler;
  Fields(filler, noun);
  return noun;
}

// "findings[0].subject.rank=3" and so on.
class FieldTexts {
 public:
  template <typename T>
  static std::vector<std::string> Of(const T& noun) {
    FieldTexts texts;
    Fields(texts, const_cast<T&>(noun));
    return texts.texts_;
  }

  template <typename T>
  void Field(const char* name, const T& value, const Shown& = {}) {
    ++fields_;
    const std::string before = path_;
    path_ += name;
    Tell(value);
    path_ = before;
  }
  int fields() const { return fields_; }  // nested ones included

 private:
  template <typename T>
  void Tell(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      Add(value);
    } else if constexpr (std::is_same_v<T, Time>) {
      Add(std::to_string(ToMicros(value)));
    } else if constexpr (std::is_floating_point_v<T>) {
      Add(fmt::format("{}", value));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      Add(std::to_string(static_cast<int64_t>(value)));
    } else if constexpr (requires { value.has_value(); }) {
      value ? Tell(*value) : Add("none");
    } else if constexpr (requires { value.begin(); }) {
      const std::string before = path_;
      int at = 0;
      for (const auto& item : value) {
        path_ = fmt::format("{}[{}]", before, at++);
        Tell(item);
      }
      path_ = before;
      if (at == 0) Add("none");
    } else {
      const std::string before = path_;
      path_ += '.';
      Fields(*this, const_cast<T&>(value));
      path_ = before;
    }
  }
  void Add(const std::string& text) { texts_.push_back(path_ + '=' + text); }

  std::string path_;
  std::vector<std::string> texts_;
  int fields_ = 0;
};

}  // namespace nanwatch

#endif  // NANWATCH_TESTS_UNIT_MODEL_FILLED_H_
