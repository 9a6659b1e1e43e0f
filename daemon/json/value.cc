#include "json/value.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>

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

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nanwatch
