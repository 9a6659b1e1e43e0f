// Moments and incidents as messages of OTLP. Names are after OpenTelemetry's
// semantic conventions; it has none for trainings, so these are ours, under
// "nanwatch.": docs/STORES.md lists them.

#ifndef NANWATCH_PUSH_OTLP_REQUEST_H_
#define NANWATCH_PUSH_OTLP_REQUEST_H_

#include <deque>
#include <map>
#include <span>
#include <string>

#include "model/incident.h"
#include "nanwatch/push/v1/otlp.pb.h"
#include "push/moments.h"

namespace nanwatch {

// Who sends: attributes of the resource beside service.name.
struct OtlpSender {
  std::string version;  // of the daemon
  std::map<std::string, std::string> labels;
};

push::v1::ExportMetricsRequest MetricsRequestOf(std::span<const Moment> moments,
                                                const OtlpSender& sender);
push::v1::ExportLogsRequest LogsRequestOf(const std::deque<Notice>& notices,
                                          const OtlpSender& sender, Time now);

}  // namespace nanwatch

#endif  // NANWATCH_PUSH_OTLP_REQUEST_H_
