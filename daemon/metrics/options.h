// MetricsOptions: how much is exported.

#ifndef NANWATCH_METRICS_OPTIONS_H_
#define NANWATCH_METRICS_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/limits.h"

namespace nanwatch {

enum class Cardinality : uint8_t {
  // Runs only: at most 80 series each, and 3 a family that fires.
  kLow,
  kRecommended,  // and the main rank series and the 10 worst ops
  kFull,         // every rank series, limits::kTopOps ops
};
constexpr std::string_view Name(Cardinality cardinality) {
  switch (cardinality) {
    case Cardinality::kLow:
      return "low";
    case Cardinality::kRecommended:
      return "recommended";
    case Cardinality::kFull:
      return "full";
  }
  return "recommended";
}

struct MetricsOptions {
  Cardinality cardinality = Cardinality::kRecommended;
  // Series of one exposition. Runs that do not fit are left out whole, healthy
  // ones first, and counted in nanwatch_series_left_out.
  size_t series_max = limits::kMetricSeries;
};

}  // namespace nanwatch

#endif  // NANWATCH_METRICS_OPTIONS_H_
