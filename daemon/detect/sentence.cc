#include "detect/sentence.h"

#include <cmath>
#include <cstdio>

#include "model/scale_bound.h"

namespace nanwatch {

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (BoundOf(value)) return "0 as printed";
  if (value == 0) value = 0;  // -0, too
  char text[40];
  const bool whole = value == std::floor(value) && std::fabs(value) < 1e10;
  std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.4g", value);
  return text;
}

}  // namespace nanwatch
