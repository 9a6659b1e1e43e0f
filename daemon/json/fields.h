// JsonFields: a noun (model/field.h) as JSON.

#ifndef NANWATCH_JSON_FIELDS_H_
#define NANWATCH_JSON_FIELDS_H_

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>

#include "json/value.h"
#include "model/field.h"

namespace nanwatch {

class JsonFields {
 public:
  static constexpr bool kShows = true;

  template <typename T>
  static Json Of(const T& noun, const RuleNames& rule_name) {
    Json object = Json::object();
    JsonFields fields(&object, rule_name);
    Fields(fields, const_cast<T&>(noun));
    return object;
  }

  // Appends to `*object`. `rule_name` may be empty, and outlives this.
  JsonFields(Json* object, const RuleNames& rule_name)
      : object_(object), rule_name_(rule_name) {}

  template <typename T>
  void Field(const char* name, const T& value, const Shown& shown = {}) {
    if (shown.key == nullptr || !shown.said) return;
    const std::string key = *shown.key != '\0' ? shown.key : name;
    if constexpr (requires { value.size(); }) {
      if (shown.most < SIZE_MAX) (*object_)[key + "_total"] = value.size();
    }
    if (shown.also != nullptr) (*object_)[shown.also] = ValueOf(value, shown);
    (*object_)[key] = ValueOf(value, shown);
  }

 private:
  template <typename T>
  Json ValueOf(const T& value, const Shown& shown) const {
    if constexpr (std::is_same_v<T, Time>) {
      return JsonTime(value);
    } else if constexpr (std::is_same_v<T, Duration>) {
      return ToSeconds(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return JsonNumber(value);
    } else if constexpr (std::is_integral_v<T> ||
                         std::is_same_v<T, std::string>) {
      return value;
    } else if constexpr (std::is_same_v<T, RuleId>) {
      return Rule(value);
    } else if constexpr (std::is_enum_v<T>) {
      return Name(value);
    } else if constexpr (requires { value.has_value(); }) {
      return value ? ValueOf(*value, shown) : Json();
    } else if constexpr (requires { value.begin(); }) {
      Json list = Json::array();
      for (const auto& item : value) {
        if (list.size() >= shown.most) break;
        list.push_back(ValueOf(item, shown));
      }
      return list;
    } else {
      return Of(value, rule_name_);
    }
  }
  Json Rule(RuleId rule) const {
    Json json = {{"number", NumberOf(rule)}};
    if (rule_name_) json["name"] = rule_name_(rule);
    return json;
  }

  Json* const object_;
  const RuleNames& rule_name_;
};

}  // namespace nanwatch

#endif  // NANWATCH_JSON_FIELDS_H_
