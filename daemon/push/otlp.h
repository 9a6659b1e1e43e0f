// OTLP over gRPC to an OpenTelemetry Collector: steps as metrics, incidents as
// log records.

#ifndef NANWATCH_PUSH_OTLP_H_
#define NANWATCH_PUSH_OTLP_H_

#include <memory>
#include <string>

#include "base/clock.h"
#include "push/incident_queue.h"
#include "push/options.h"
#include "push/sink.h"

namespace nanwatch {

// `options.otlp.address` is given. `incidents` must outlive the sink.
std::unique_ptr<Sink> NewOtlp(const PushOptions& options,
                              const std::string& version,
                              IncidentQueue& incidents);

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_OTLP_H_
