// Numbers and times as this API writes them. NaN and infinities are the strings
// "NaN", "Infinity", "-Infinity"; absent is null; not collected is no key.

#ifndef NANWATCH_JSON_VALUE_H_
#define NANWATCH_JSON_VALUE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "json/value_fwd.h"

namespace nanwatch {

inline constexpr std::string_view kJsonType = "application/json; charset=utf-8";

Json JsonNumber(double value);
// Returns seconds since the Unix epoch, with a fraction.
Json JsonTime(Time time);
// Returns 16 hexadecimal digits: 64-bit ids do not fit in a JavaScript number.
Json JsonId(uint64_t id);

// Returns null when there is no value.
template <typename T>
Json JsonOrNull(const std::optional<T>& value) {
  if (!value) return nullptr;
  return *value;
}

// Writes any bytes without failing: those that are not UTF-8 become U+FFFD.
// What is not plain (base/plain_text.h) is escaped: terminals show JSON, too.
// `indent` -1: on one line.
std::string Dump(const Json& json, int indent = -1);

}  // namespace nanwatch

#endif  // NANWATCH_JSON_VALUE_H_
