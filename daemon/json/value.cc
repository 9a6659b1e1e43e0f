#include "json/value.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "base/plain_text.h"

namespace nanwatch {

Json JsonNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json JsonTime(Time time) { return ToSeconds(time.time_since_epoch()); }

Json JsonId(uint64_t id) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, id);
  return digits;
}

std::string Dump(const Json& json, int indent) {
  const std::string text =
      json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
  return PlainText(text, [](uint32_t code) -> std::string {
    if (code == '\n') return "\n";  // between keys; those of texts are escaped
    char escape[7];
    std::snprintf(escape, sizeof escape, "\\u%04x", code & 0xffff);
    return escape;
  });
}

}  // namespace nanwatch
