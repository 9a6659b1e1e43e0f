// Which exposition format a scraper wants, and whether it takes gzip.

#ifndef NANWATCH_METRICS_NEGOTIATE_H_
#define NANWATCH_METRICS_NEGOTIATE_H_

#include <string_view>

#include "metrics/render.h"

namespace nanwatch {

// `accept`: the Accept header, may be empty. By q-value; of equal ones
// OpenMetrics. What nobody asks for in a form that
// we have is text 0.0.4, as Prometheus' protocol says.
MetricsFormat NegotiateFormat(std::string_view accept);

// True when `accept_encoding` takes gzip with a q-value above 0.
bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace nanwatch

#endif  // NANWATCH_METRICS_NEGOTIATE_H_
