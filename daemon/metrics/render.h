// The two exposition formats, written without a locale and without streams:
// several times faster than the library's serializer, which also knows no
// OpenMetrics.

#ifndef NANWATCH_METRICS_RENDER_H_
#define NANWATCH_METRICS_RENDER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "metrics/family_set.h"

namespace nanwatch {

enum class MetricsFormat : uint8_t { kText004, kOpenMetrics100 };

// The Content-Type that belongs to it.
std::string_view ContentType(MetricsFormat format);

// Appends. Counters and gauges only, as FamilySet makes them.
void Render(MetricsFormat format, const MetricSet& set, std::string* out);

}  // namespace nanwatch

#endif  // NANWATCH_METRICS_RENDER_H_
