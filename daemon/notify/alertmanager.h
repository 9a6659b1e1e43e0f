// The body of a request to Alertmanager's API v2.

#ifndef NANWATCH_NOTIFY_ALERTMANAGER_H_
#define NANWATCH_NOTIFY_ALERTMANAGER_H_

#include <span>
#include <string>
#include <string_view>

#include "notify/alert.h"

namespace nanwatch {

inline constexpr std::string_view kAlertsPath = "/api/v2/alerts";
// Prometheus' batch.
inline constexpr size_t kAlertsPerRequest = 64;

std::string AlertsJson(std::span<const Alert> alerts, const LinkBases& bases);

// "2023-11-14T22:13:20.000001Z".
std::string Rfc3339(Time time);

}  // namespace nanwatch

#endif  // NANWATCH_NOTIFY_ALERTMANAGER_H_
